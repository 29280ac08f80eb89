//! The shared table of locks: who holds what, who waits for what, in which order.
//!
//! A request is granted when its mode excludes neither another holder's nor that of anybody who already waits, so nobody
//! starves. A holder that asks for more goes before those who hold nothing yet, for they wait for it anyway.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::thread::Thread;

use parking_lot::{Mutex, RwLock};
use rustc_hash::FxHashMap;

use super::context::LockContext;
use super::modes::{AdvisoryKey, LockMode, LockSpace, LockTag, ModeSet, TableLockMode};
use crate::ids::RelationId;

/// Parts of the table with a mutex each.
const SHARDS: usize = 128;
/// Counters of strong relation locks, see [`LockManager::strong`].
const STRONG_PARTITIONS: usize = 1024;

/// All locks of a store.
pub(crate) struct LockManager {
    shards: Box<[Mutex<FxHashMap<LockTag, LockState>>]>,
    /// How many strong locks are held or wanted on the relations of each partition. While it is zero, weak locks are noted in
    /// their owner's context only (PostgreSQL's fast path, `FastPathStrongRelationLocks`).
    strong: Box<[AtomicU32]>,
    contexts: RwLock<FxHashMap<u64, Weak<LockContext>>>,
    next_owner: AtomicU64,
    /// Held while looking for a circle of waits, so that one member gives way, not all.
    pub(super) detector: Mutex<()>,
}

/// One thing's holders and waiters.
#[derive(Default)]
struct LockState {
    first: Holder,
    /// Further holders and waiters: most locks have none.
    more: Option<Box<More>>,
}

#[derive(Default)]
struct More {
    holders: Vec<Holder>,
    queue: VecDeque<Arc<Waiter>>,
}

/// Owner 0 is nobody.
#[derive(Debug, Clone, Copy, Default)]
struct Holder {
    owner: u64,
    transaction: ModeSet,
    session: ModeSet,
}

impl Holder {
    fn modes(&self) -> ModeSet {
        self.transaction | self.session
    }
}

const WAITING: u8 = 0;
const GRANTED: u8 = 1;

/// A request in a queue.
pub(super) struct Waiter {
    pub(super) owner: u64,
    pub(super) mode: u8,
    session: bool,
    thread: Thread,
    state: AtomicU8,
}

impl Waiter {
    pub(super) fn is_granted(&self) -> bool {
        self.state.load(Ordering::Acquire) == GRANTED
    }
}

/// How a request began.
pub(super) enum Request {
    /// Granted; whether its owner held nothing there before.
    Granted { first: bool },
    /// Not free, and the caller did not want to wait.
    Refused,
    /// In the queue.
    Queued(Arc<Waiter>),
}

impl LockState {
    fn holders(&self) -> impl Iterator<Item = &Holder> {
        let more = self.more.iter().flat_map(|more| more.holders.iter());
        std::iter::once(&self.first).filter(|holder| holder.owner != 0).chain(more)
    }

    fn holder_mut(&mut self, owner: u64) -> Option<&mut Holder> {
        if self.first.owner == owner {
            return Some(&mut self.first);
        }
        self.more.as_mut()?.holders.iter_mut().find(|holder| holder.owner == owner)
    }

    fn queue(&self) -> impl Iterator<Item = &Arc<Waiter>> {
        self.more.iter().flat_map(|more| more.queue.iter())
    }

    /// Modes held by others than `owner`.
    fn held_by_others(&self, owner: u64) -> ModeSet {
        self.holders().filter(|holder| holder.owner != owner).fold(0, |modes, holder| modes | holder.modes())
    }

    /// Adds a mode; true when the owner held nothing here before.
    fn grant(&mut self, owner: u64, mode: u8, session: bool) -> bool {
        let bit = 1 << mode;
        let (first, holder) = match self.holder_mut(owner) {
            Some(_) => (false, self.holder_mut(owner)),
            None => (true, Some(self.add_holder(owner))),
        };
        if let Some(holder) = holder {
            match session {
                true => holder.session |= bit,
                false => holder.transaction |= bit,
            }
        }
        first
    }

    fn add_holder(&mut self, owner: u64) -> &mut Holder {
        let holder = Holder { owner, transaction: 0, session: 0 };
        if self.first.owner == 0 {
            self.first = holder;
            return &mut self.first;
        }
        let holders = &mut self.more.get_or_insert_default().holders;
        holders.push(holder);
        let last = holders.len() - 1;
        &mut holders[last]
    }

    /// Takes modes from an owner, and forgets it when it has none left.
    fn remove(&mut self, owner: u64, transaction: ModeSet, session: ModeSet) {
        let Some(holder) = self.holder_mut(owner) else { return };
        holder.transaction &= !transaction;
        holder.session &= !session;
        if holder.modes() != 0 {
            return;
        }
        if self.first.owner == owner {
            self.first = self.more.as_mut().and_then(|more| more.holders.pop()).unwrap_or_default();
        } else if let Some(more) = &mut self.more {
            more.holders.retain(|holder| holder.owner != owner);
        }
    }

    /// Grants all who can be, in order.
    fn grant_waiters(&mut self, tag: LockTag) {
        let Some(more) = &mut self.more else { return };
        let mut still = VecDeque::new();
        let mut ahead: ModeSet = 0;
        for waiter in std::mem::take(&mut more.queue) {
            let conflicts = tag.conflicts(waiter.mode);
            if conflicts & (self.held_by_others(waiter.owner) | ahead) == 0 {
                self.grant(waiter.owner, waiter.mode, waiter.session);
                waiter.state.store(GRANTED, Ordering::Release);
                waiter.thread.unpark();
            } else {
                ahead |= 1 << waiter.mode;
                still.push_back(waiter);
            }
        }
        if let Some(more) = &mut self.more {
            more.queue = still;
        }
    }

    fn is_free(&self) -> bool {
        self.first.owner == 0 && self.more.as_ref().is_none_or(|more| more.queue.is_empty())
    }
}

impl LockManager {
    pub(crate) fn new() -> LockManager {
        LockManager {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            strong: (0..STRONG_PARTITIONS).map(|_| AtomicU32::new(0)).collect(),
            contexts: RwLock::default(),
            next_owner: AtomicU64::new(1),
            detector: Mutex::new(()),
        }
    }

    pub(super) fn register(&self, make: impl FnOnce(u64) -> LockContext) -> Arc<LockContext> {
        let owner = self.next_owner.fetch_add(1, Ordering::Relaxed);
        let context = Arc::new(make(owner));
        self.contexts.write().insert(owner, Arc::downgrade(&context));
        context
    }

    pub(super) fn unregister(&self, owner: u64) {
        self.contexts.write().remove(&owner);
    }

    pub(super) fn context(&self, owner: u64) -> Option<Arc<LockContext>> {
        self.contexts.read().get(&owner)?.upgrade()
    }

    pub(super) fn contexts(&self) -> Vec<Arc<LockContext>> {
        self.contexts.read().values().filter_map(Weak::upgrade).collect()
    }

    /// The counter of strong locks that covers a relation.
    pub(super) fn strong(&self, relation: RelationId) -> &AtomicU32 {
        &self.strong[relation.0 as usize % STRONG_PARTITIONS]
    }

    fn shard(&self, tag: LockTag) -> &Mutex<FxHashMap<LockTag, LockState>> {
        let mixed = (tag.key ^ u64::from(tag.relation) << 7).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        &self.shards[(mixed >> 57) as usize % SHARDS]
    }

    /// Grants the lock, or queues the request when `may_wait`.
    pub(super) fn request(
        &self,
        tag: LockTag,
        mode: u8,
        session: bool,
        owner: u64,
        may_wait: bool,
    ) -> Request {
        let mut shard = self.shard(tag).lock();
        let state = shard.entry(tag).or_default();
        let conflicts = tag.conflicts(mode);
        let holds = state.holder_mut(owner).is_some();
        let excluded = conflicts & state.held_by_others(owner) != 0;
        // Who already holds the lock may pass those who wait, since they wait for it.
        let behind = !holds && state.queue().any(|waiter| conflicts & 1 << waiter.mode != 0);
        if !excluded && !behind {
            return Request::Granted { first: state.grant(owner, mode, session) };
        }
        if !may_wait {
            return Request::Refused;
        }
        let thread = std::thread::current();
        let waiter = Arc::new(Waiter { owner, mode, session, thread, state: AtomicU8::new(WAITING) });
        let queue = &mut state.more.get_or_insert_default().queue;
        match holds {
            true => queue.push_front(Arc::clone(&waiter)),
            false => queue.push_back(Arc::clone(&waiter)),
        }
        Request::Queued(waiter)
    }

    /// Takes a request out of its queue; false when it has been granted in the meantime.
    pub(super) fn withdraw(&self, tag: LockTag, waiter: &Arc<Waiter>) -> bool {
        let mut shard = self.shard(tag).lock();
        if waiter.is_granted() {
            return false;
        }
        if let Some(state) = shard.get_mut(&tag) {
            if let Some(more) = &mut state.more {
                more.queue.retain(|other| !Arc::ptr_eq(other, waiter));
            }
            state.grant_waiters(tag);
            if state.is_free() {
                shard.remove(&tag);
            }
        }
        true
    }

    /// Notes a lock that was granted elsewhere (a weak relation lock leaving its context).
    pub(super) fn adopt(&self, tag: LockTag, owner: u64, modes: ModeSet) {
        let mut shard = self.shard(tag).lock();
        let state = shard.entry(tag).or_default();
        for mode in (0..8).filter(|mode| modes & 1 << mode != 0) {
            state.grant(owner, mode, false);
        }
    }

    /// Gives up modes held for the transaction and for the session.
    pub(super) fn release(&self, tag: LockTag, owner: u64, transaction: ModeSet, session: ModeSet) {
        let mut shard = self.shard(tag).lock();
        let Some(state) = shard.get_mut(&tag) else { return };
        state.remove(owner, transaction, session);
        state.grant_waiters(tag);
        if state.is_free() {
            shard.remove(&tag);
        }
    }

    /// For whom `owner`'s request for `tag` waits: holders it conflicts with, and those queued before it.
    pub(super) fn blockers(&self, tag: LockTag, owner: u64) -> Vec<u64> {
        let shard = self.shard(tag).lock();
        let Some(state) = shard.get(&tag) else { return Vec::new() };
        let Some(place) = state.queue().position(|waiter| waiter.owner == owner) else { return Vec::new() };
        let Some(own) = state.queue().nth(place) else { return Vec::new() };
        let conflicts = tag.conflicts(own.mode);
        let holders = state
            .holders()
            .filter(|holder| holder.owner != owner && conflicts & holder.modes() != 0)
            .map(|holder| holder.owner);
        let ahead = state
            .queue()
            .take(place)
            .filter(|waiter| conflicts & 1 << waiter.mode != 0)
            .map(|waiter| waiter.owner);
        holders.chain(ahead).collect()
    }

    /// All locks held and awaited, for `pg_locks`.
    pub(crate) fn list(&self) -> Vec<LockInfo> {
        let mut all = Vec::new();
        let contexts = self.contexts();
        let pids: FxHashMap<u64, i32> =
            contexts.iter().map(|context| (context.owner, context.process_id())).collect();
        let mut add = |tag: LockTag, owner: u64, modes: ModeSet, granted, fast_path| {
            for mode in (0..8).filter(|mode| modes & 1 << mode != 0) {
                let process_id = pids.get(&owner).copied().unwrap_or(0);
                let target = LockTarget::new(tag, mode);
                all.push(LockInfo { target, process_id, granted, fast_path });
            }
        };
        for context in &contexts {
            for (relation, modes) in context.fast_locks() {
                add(LockTag::relation(relation), context.owner, modes, true, true);
            }
        }
        for shard in &self.shards {
            for (tag, state) in shard.lock().iter() {
                state.holders().for_each(|holder| add(*tag, holder.owner, holder.modes(), true, false));
                state.queue().for_each(|waiter| add(*tag, waiter.owner, 1 << waiter.mode, false, false));
            }
        }
        all
    }
}

/// One line of `pg_locks`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockInfo {
    /// What is locked, and how.
    pub target: LockTarget,
    /// The session's number, as given to its [`LockContext`].
    pub process_id: i32,
    /// Held, or waited for.
    pub granted: bool,
    /// Noted in the session only.
    pub fast_path: bool,
}

/// What a lock is on, and its mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockTarget {
    /// A row or a key, named by a hash of the key.
    Row(RelationId, u64, LockMode),
    /// A relation.
    Relation(RelationId, TableLockMode),
    /// An advisory lock, shared or exclusive.
    Advisory(AdvisoryKey, TableLockMode),
}

impl LockTarget {
    pub(super) fn new(tag: LockTag, mode: u8) -> LockTarget {
        match tag.space {
            LockSpace::Row => LockTarget::Row(RelationId(tag.relation), tag.key, row_mode(mode)),
            LockSpace::Relation => LockTarget::Relation(RelationId(tag.relation), table_mode(mode)),
            LockSpace::AdvisoryOne => {
                LockTarget::Advisory(AdvisoryKey::One(tag.key.cast_signed()), table_mode(mode))
            }
            LockSpace::AdvisoryTwo => {
                let (a, b) = ((tag.key >> 32) as u32, tag.key as u32);
                LockTarget::Advisory(AdvisoryKey::Two(a.cast_signed(), b.cast_signed()), table_mode(mode))
            }
        }
    }

    /// The name that `pg_locks.mode` shows. Rows show the mode of the transaction's row lock.
    pub fn mode_name(self) -> &'static str {
        match self {
            LockTarget::Row(_, _, LockMode::KeyShare) => "For Key Share",
            LockTarget::Row(_, _, LockMode::Share) => "For Share",
            LockTarget::Row(_, _, LockMode::NoKeyUpdate) => "For No Key Update",
            LockTarget::Row(_, _, LockMode::Update) => "For Update",
            LockTarget::Relation(_, mode) | LockTarget::Advisory(_, mode) => mode.name(),
        }
    }
}

fn row_mode(mode: u8) -> LockMode {
    match mode {
        0 => LockMode::KeyShare,
        1 => LockMode::Share,
        2 => LockMode::NoKeyUpdate,
        _ => LockMode::Update,
    }
}

fn table_mode(mode: u8) -> TableLockMode {
    match mode {
        0 => TableLockMode::AccessShare,
        1 => TableLockMode::RowShare,
        2 => TableLockMode::RowExclusive,
        3 => TableLockMode::ShareUpdateExclusive,
        4 => TableLockMode::Share,
        5 => TableLockMode::ShareRowExclusive,
        6 => TableLockMode::Exclusive,
        _ => TableLockMode::AccessExclusive,
    }
}
