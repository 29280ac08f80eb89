//! Scratch memory for the values that an evaluation makes on its way.

use bumpalo::Bump;

/// A bump allocator: values made while a row is evaluated live until the arena is reset, and nothing is freed one by one.
#[derive(Default)]
pub struct Arena(Bump);

impl Arena {
    /// An empty arena; it allocates nothing before its first use.
    pub fn new() -> Self {
        Arena(Bump::new())
    }

    /// Copies bytes into the arena.
    pub fn bytes(&self, bytes: &[u8]) -> &[u8] {
        self.0.alloc_slice_copy(bytes)
    }

    /// Joins two byte strings in the arena.
    pub fn concat(&self, a: &[u8], b: &[u8]) -> &[u8] {
        let joined = self.0.alloc_slice_fill_copy(a.len() + b.len(), 0);
        let (head, tail) = joined.split_at_mut(a.len());
        head.copy_from_slice(a);
        tail.copy_from_slice(b);
        joined
    }

    /// Copies a string into the arena.
    pub fn str(&self, text: &str) -> &str {
        self.0.alloc_str(text)
    }

    /// Runs `fill` on a growing buffer that lives in the arena, and returns what it wrote.
    pub fn build<E>(&self, fill: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> Result<&[u8], E> {
        // A short-lived Vec from the global allocator costs less than growing inside a bump chunk.
        let mut buffer = Vec::with_capacity(64);
        fill(&mut buffer)?;
        Ok(self.0.alloc_slice_copy(&buffer))
    }

    /// Copies a slice of plain values into the arena.
    pub fn slice<T: Copy>(&self, values: &[T]) -> &[T] {
        self.0.alloc_slice_copy(values)
    }

    /// Makes a slice of `len` values in the arena.
    pub fn slice_with<T>(&self, len: usize, fill: impl FnMut(usize) -> T) -> &mut [T] {
        self.0.alloc_slice_fill_with(len, fill)
    }

    /// Forgets every value, keeping the memory. The borrow checker sees to it that none is still referred to.
    pub fn reset(&mut self) {
        self.0.reset();
    }

    /// Bytes that the arena holds from the system.
    pub fn allocated(&self) -> usize {
        self.0.allocated_bytes()
    }
}
