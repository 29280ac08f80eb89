//! Where values lie: the layout of an operator's rows, and the chain of outer rows around it.

use rustc_hash::FxHashMap;

/// What a slot holds. `depth` counts the `Query` nodes around, so that it names one query of all those in scope.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SlotKey {
    /// A column of a range entry.
    Column(u32, u16, u16),
    /// The row key of a range entry.
    RowKey(u32, u16),
    /// The whole stored row of a range entry.
    StoredRow(u32, u16),
    /// A grouping expression.
    GroupKey(u32, usize),
    /// An aggregate.
    Aggregate(u32, usize),
    /// The mask of keys absent from the grouping set.
    GroupingMask(u32),
    /// A window call.
    Window(u32, usize),
    /// A set-returning function of the target list.
    SetFunction(u32, usize),
}

/// The entry number by which a quantified test refers to its subquery's columns.
pub const SUBQUERY_ENTRY: u16 = u16::MAX;

/// The layout of a row.
#[derive(Clone, Default, Debug)]
pub struct Layout {
    slots: FxHashMap<SlotKey, usize>,
    width: usize,
}

impl Layout {
    /// An empty layout.
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of slots.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Widens the row, so that it has at least this many slots.
    pub fn set_width(&mut self, width: usize) {
        self.width = width;
    }

    /// Says what a slot holds; the first one said stays.
    pub fn bind(&mut self, key: SlotKey, slot: usize) {
        self.slots.entry(key).or_insert(slot);
        self.width = self.width.max(slot + 1);
    }

    /// A new slot at the end.
    pub fn push(&mut self, key: SlotKey) -> usize {
        let slot = self.width;
        self.bind(key, slot);
        slot
    }

    /// The slot of something.
    pub fn slot(&self, key: SlotKey) -> Option<usize> {
        self.slots.get(&key).copied()
    }

    /// This layout with another's slots behind its own.
    pub fn join(&self, right: &Layout) -> Layout {
        let mut joined = self.clone();
        for (key, slot) in &right.slots {
            joined.slots.entry(*key).or_insert(self.width + slot);
        }
        joined.width = self.width + right.width;
        joined
    }

    /// Everything that has a slot.
    pub fn keys(&self) -> impl Iterator<Item = (SlotKey, usize)> {
        self.slots.iter().map(|(k, s)| (*k, *s))
    }
}

/// A layout and the outer rows around it.
#[derive(Clone, Copy)]
pub struct Scope<'p> {
    /// The current row.
    pub layout: &'p Layout,
    /// The outer rows, nearest first.
    pub parent: Option<&'p Scope<'p>>,
}

/// Where a value was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// In the current row.
    Slot(usize),
    /// In an outer row: frames up (0 the nearest), slot.
    Outer(usize, usize),
}

impl<'p> Scope<'p> {
    /// A scope inside another.
    pub fn new(layout: &'p Layout, parent: Option<&'p Scope<'p>>) -> Self {
        Scope { layout, parent }
    }

    /// How many outer rows there are.
    pub fn frames(&self) -> usize {
        let mut count = 0;
        let mut scope = self.parent;
        while let Some(s) = scope {
            count += 1;
            scope = s.parent;
        }
        count
    }

    /// Finds a value, looking outwards.
    pub fn find(&self, key: SlotKey) -> Option<Place> {
        if let Some(slot) = self.layout.slot(key) {
            return Some(Place::Slot(slot));
        }
        let mut depth = 0;
        let mut scope = self.parent;
        while let Some(s) = scope {
            if let Some(slot) = s.layout.slot(key) {
                return Some(Place::Outer(depth, slot));
            }
            depth += 1;
            scope = s.parent;
        }
        None
    }
}
