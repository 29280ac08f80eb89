//! A flag by which other threads stop a session: cancel requests, timeouts, termination.

use std::sync::atomic::{AtomicU8, Ordering};
use std::thread::{self, Thread};

use parking_lot::Mutex;

use crate::error::StoreError;

/// Why a session is to stop. Ordered by weight: a heavier reason replaces a lighter one, never the reverse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum InterruptReason {
    /// A client sent a cancel request, or `pg_cancel_backend` was called.
    Cancel = 1,
    /// `statement_timeout` ran out.
    StatementTimeout = 2,
    /// `idle_in_transaction_session_timeout` ran out.
    IdleInTransactionTimeout = 3,
    /// `idle_session_timeout` ran out.
    IdleSessionTimeout = 4,
    /// `pg_terminate_backend` was called.
    Terminate = 5,
    /// The server is shutting down.
    Shutdown = 6,
}

impl InterruptReason {
    fn from_code(code: u8) -> Option<InterruptReason> {
        Some(match code {
            0 => return None,
            1 => InterruptReason::Cancel,
            2 => InterruptReason::StatementTimeout,
            3 => InterruptReason::IdleInTransactionTimeout,
            4 => InterruptReason::IdleSessionTimeout,
            5 => InterruptReason::Terminate,
            _ => InterruptReason::Shutdown,
        })
    }
}

/// One per session, shared with whoever may stop it. Asking costs one relaxed load, so executors ask often. Raising it
/// also wakes the session out of a lock wait. A commit that has been queued is past stopping.
#[derive(Debug, Default)]
pub struct Interrupt {
    reason: AtomicU8,
    waiter: Mutex<Option<Thread>>,
}

impl Interrupt {
    /// One that has not been raised.
    pub fn new() -> Interrupt {
        Interrupt::default()
    }

    /// Asks the session to stop, and wakes it if it waits.
    pub fn raise(&self, reason: InterruptReason) {
        // IMPORTANT: the reason is stored before the waiter is looked up, and a waiter registers before it looks for a
        // reason; so one of the two sees the other.
        self.reason.fetch_max(reason as u8, Ordering::SeqCst);
        if let Some(thread) = &*self.waiter.lock() {
            thread.unpark();
        }
    }

    /// The reason to stop, if there is one.
    #[inline]
    pub fn pending(&self) -> Option<InterruptReason> {
        InterruptReason::from_code(self.reason.load(Ordering::Relaxed))
    }

    /// Fails when the session is to stop.
    #[inline]
    pub fn check(&self) -> Result<(), StoreError> {
        match self.pending() {
            None => Ok(()),
            Some(reason) => Err(StoreError::Interrupted(reason)),
        }
    }

    /// Forgets a reason that has been acted upon, unless a heavier one has come since.
    pub fn clear(&self, reason: InterruptReason) {
        let _ = self.reason.compare_exchange(reason as u8, 0, Ordering::SeqCst, Ordering::SeqCst);
    }

    /// Takes whatever reason is there and forgets it.
    pub fn take(&self) -> Option<InterruptReason> {
        InterruptReason::from_code(self.reason.swap(0, Ordering::SeqCst))
    }

    /// Lets [`Interrupt::raise`] unpark the current thread until the guard is dropped.
    pub(crate) fn register_waiter(&self) -> WaiterGuard<'_> {
        *self.waiter.lock() = Some(thread::current());
        WaiterGuard(self)
    }
}

/// Takes back a registration made by [`Interrupt::register_waiter`].
pub(crate) struct WaiterGuard<'a>(&'a Interrupt);

impl Drop for WaiterGuard<'_> {
    fn drop(&mut self) {
        *self.0.waiter.lock() = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heavier_reason_wins_and_stays() {
        let interrupt = Interrupt::new();
        assert_eq!(interrupt.pending(), None);
        interrupt.raise(InterruptReason::Terminate);
        interrupt.raise(InterruptReason::Cancel);
        assert_eq!(interrupt.pending(), Some(InterruptReason::Terminate));
        interrupt.clear(InterruptReason::Cancel);
        assert_eq!(interrupt.take(), Some(InterruptReason::Terminate));
        assert!(interrupt.check().is_ok());
    }
}
