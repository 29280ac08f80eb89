//! A session's side of locking: who it is, how long it waits, what its transaction holds.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::modes::{AdvisoryKey, LockTag, ModeSet, TableLockMode};
use super::table::{LockManager, LockTarget, Request, Waiter};
use super::{LockOutcome, Wait, deadlock};
use crate::error::StoreError;
use crate::ids::RelationId;
use crate::interrupt::Interrupt;

/// One per session: the owner of its locks. At most one transaction at a time works under it. When the last handle is
/// dropped, its session locks are released.
pub struct LockContext {
    pub(super) owner: u64,
    process_id: i32,
    manager: Arc<LockManager>,
    interrupt: Arc<Interrupt>,
    lock_timeout_ms: AtomicU64,
    deadlock_timeout_ms: AtomicU64,
    fast: Mutex<FastLocks>,
    pub(super) waiting: Mutex<Option<WaitFor>>,
    /// Session-level advisory locks with the times that each was taken.
    session: Mutex<Vec<(LockTag, u8, u32)>>,
}

/// Weak relation locks of the running transaction, unless somebody wants a strong one on the relation.
#[derive(Default)]
struct FastLocks {
    held: Vec<(RelationId, ModeSet)>,
    /// Those that a strong locker moved to the shared table.
    moved: Vec<LockTag>,
}

/// What a session waits for.
#[derive(Debug, Clone, Copy)]
pub(super) struct WaitFor {
    pub(super) tag: LockTag,
    pub(super) mode: u8,
}

/// Locks of one transaction in the shared table.
#[derive(Default)]
pub(crate) struct HeldLocks {
    tags: Vec<LockTag>,
    strong: Vec<RelationId>,
    /// Whether the context's fast locks may be non-empty.
    fast: bool,
}

impl LockContext {
    pub(crate) fn new(
        manager: &Arc<LockManager>,
        process_id: i32,
        interrupt: Arc<Interrupt>,
    ) -> Arc<LockContext> {
        manager.register(|owner| LockContext {
            owner,
            process_id,
            manager: Arc::clone(manager),
            interrupt,
            lock_timeout_ms: AtomicU64::new(0),
            deadlock_timeout_ms: AtomicU64::new(1_000),
            fast: Mutex::default(),
            waiting: Mutex::default(),
            session: Mutex::default(),
        })
    }

    /// The number that `pg_locks.pid` and deadlock reports show.
    pub fn process_id(&self) -> i32 {
        self.process_id
    }

    /// The flag that ends this session's waits.
    pub fn interrupt(&self) -> &Arc<Interrupt> {
        &self.interrupt
    }

    /// `lock_timeout`; zero waits for as long as it takes.
    pub fn set_lock_timeout(&self, timeout: Duration) {
        self.lock_timeout_ms.store(timeout.as_millis() as u64, Ordering::Relaxed);
    }

    /// `deadlock_timeout`: how long to wait before looking for a circle.
    pub fn set_deadlock_timeout(&self, timeout: Duration) {
        self.deadlock_timeout_ms.store(timeout.as_millis() as u64, Ordering::Relaxed);
    }

    /// Whom this session waits for at the moment (`pg_blocking_pids`).
    pub fn blocking_process_ids(&self) -> Vec<i32> {
        let Some(wait) = *self.waiting.lock() else { return Vec::new() };
        let owners = self.manager.blockers(wait.tag, self.owner);
        owners.into_iter().filter_map(|owner| Some(self.manager.context(owner)?.process_id)).collect()
    }

    /// Takes a session-level advisory lock, once more if it is held already.
    pub fn lock_advisory(
        &self,
        key: AdvisoryKey,
        shared: bool,
        wait: Wait,
    ) -> Result<LockOutcome, StoreError> {
        let tag = LockTag::advisory(key);
        let mode = advisory_mode(shared) as u8;
        let held = |locks: &mut Vec<(LockTag, u8, u32)>| {
            let known = locks.iter_mut().find(|(other, held, _)| *other == tag && *held == mode);
            known.map(|(_, _, times)| *times += 1).is_some()
        };
        if held(&mut self.session.lock()) {
            return Ok(LockOutcome::Acquired { waited: false });
        }
        let (outcome, _) = self.acquire(tag, mode, true, wait)?;
        if outcome != LockOutcome::Skipped {
            self.session.lock().push((tag, mode, 1));
        }
        Ok(outcome)
    }

    /// Gives a session-level advisory lock back once; false when it is not held.
    pub fn unlock_advisory(&self, key: AdvisoryKey, shared: bool) -> bool {
        let tag = LockTag::advisory(key);
        let mode = advisory_mode(shared) as u8;
        let mut locks = self.session.lock();
        let Some(at) = locks.iter().position(|(other, held, _)| *other == tag && *held == mode) else {
            return false;
        };
        let Some((_, _, times)) = locks.get_mut(at) else { return false };
        *times -= 1;
        if *times == 0 {
            locks.swap_remove(at);
            self.manager.release(tag, self.owner, 0, 1 << mode);
        }
        true
    }

    /// Gives all session-level advisory locks back.
    pub fn unlock_advisory_all(&self) {
        for (tag, mode, _) in self.session.lock().drain(..) {
            self.manager.release(tag, self.owner, 0, 1 << mode);
        }
    }

    /// Takes a lock in the shared table. Also tells whether the owner held nothing there before.
    fn acquire(
        &self,
        tag: LockTag,
        mode: u8,
        session: bool,
        wait: Wait,
    ) -> Result<(LockOutcome, bool), StoreError> {
        match self.manager.request(tag, mode, session, self.owner, wait == Wait::Block) {
            Request::Granted { first } => Ok((LockOutcome::Acquired { waited: false }, first)),
            Request::Refused if wait == Wait::Skip => Ok((LockOutcome::Skipped, false)),
            Request::Refused => Err(StoreError::LockNotAvailable),
            Request::Queued(waiter) => {
                *self.waiting.lock() = Some(WaitFor { tag, mode });
                let result = self.wait(tag, &waiter);
                *self.waiting.lock() = None;
                result.map(|()| (LockOutcome::Acquired { waited: true }, true))
            }
        }
    }

    /// Sleeps until the request is granted, or gives it up.
    fn wait(&self, tag: LockTag, waiter: &Arc<Waiter>) -> Result<(), StoreError> {
        let started = Instant::now();
        let lock_timeout = match self.lock_timeout_ms.load(Ordering::Relaxed) {
            0 => None,
            timeout_ms => Some(Duration::from_millis(timeout_ms)),
        };
        let deadlock_timeout = Duration::from_millis(self.deadlock_timeout_ms.load(Ordering::Relaxed));
        let mut looked = false;
        let _registered = self.interrupt.register_waiter();
        let reason = loop {
            if waiter.is_granted() {
                return Ok(());
            }
            if let Err(interrupted) = self.interrupt.check() {
                break interrupted;
            }
            let waited = started.elapsed();
            if lock_timeout.is_some_and(|timeout| waited >= timeout) {
                break StoreError::LockTimeout;
            }
            if !looked && waited >= deadlock_timeout {
                looked = true;
                if let Some(cycle) = deadlock::resolve(&self.manager, self, tag, waiter) {
                    return Err(StoreError::Deadlock { cycle });
                }
                continue;
            }
            let next = [lock_timeout, (!looked).then_some(deadlock_timeout)];
            match next.into_iter().flatten().min() {
                Some(timeout) => thread::park_timeout(timeout - waited),
                None => thread::park(),
            }
        };
        match self.manager.withdraw(tag, waiter) {
            true => Err(reason),
            false => Ok(()),
        }
    }

    /// Weak relation locks that are noted here only.
    pub(super) fn fast_locks(&self) -> Vec<(RelationId, ModeSet)> {
        self.fast.lock().held.clone()
    }

    /// Moves a weak relation lock, if there is one, to the shared table.
    fn expose(&self, relation: RelationId) {
        let mut fast = self.fast.lock();
        if let Some(at) = fast.held.iter().position(|(held, _)| *held == relation) {
            let (_, modes) = fast.held.swap_remove(at);
            let tag = LockTag::relation(relation);
            self.manager.adopt(tag, self.owner, modes);
            fast.moved.push(tag);
        }
    }
}

impl Drop for LockContext {
    fn drop(&mut self) {
        self.unlock_advisory_all();
        self.manager.unregister(self.owner);
    }
}

impl HeldLocks {
    /// Locks a row or key.
    pub(crate) fn lock_row(
        &mut self,
        context: &LockContext,
        tag: LockTag,
        mode: u8,
        wait: Wait,
    ) -> Result<LockOutcome, StoreError> {
        let (outcome, first) = context.acquire(tag, mode, false, wait)?;
        if first {
            self.tags.push(tag);
        }
        Ok(outcome)
    }

    /// Takes an advisory lock for the transaction.
    pub(crate) fn lock_advisory(
        &mut self,
        context: &LockContext,
        key: AdvisoryKey,
        shared: bool,
        wait: Wait,
    ) -> Result<LockOutcome, StoreError> {
        let tag = LockTag::advisory(key);
        let (outcome, _) = context.acquire(tag, advisory_mode(shared) as u8, false, wait)?;
        if outcome != LockOutcome::Skipped {
            // Noted even when the session held it before: the transaction's share must go at its end.
            self.tags.push(tag);
        }
        Ok(outcome)
    }

    /// Locks a relation; weak modes touch nothing that sessions share, while nobody wants a strong one.
    pub(crate) fn lock_relation(
        &mut self,
        context: &LockContext,
        relation: RelationId,
        mode: TableLockMode,
        wait: Wait,
    ) -> Result<LockOutcome, StoreError> {
        if mode.is_weak() && self.lock_fast(context, relation, mode) {
            return Ok(LockOutcome::Acquired { waited: false });
        }
        let tag = LockTag::relation(relation);
        let manager = &context.manager;
        if mode.is_strong() {
            // IMPORTANT: count first, then look through the contexts. A weak locker looks at the count under its context's
            // mutex; so either it sees the count, or its lock is seen here.
            manager.strong(relation).fetch_add(1, Ordering::SeqCst);
            for other in manager.contexts() {
                other.expose(relation);
            }
        }
        let result = context.acquire(tag, mode as u8, false, wait);
        let acquired = matches!(result, Ok((LockOutcome::Acquired { .. }, _)));
        if mode.is_strong() {
            match acquired {
                true => self.strong.push(relation),
                false => drop(manager.strong(relation).fetch_sub(1, Ordering::SeqCst)),
            }
        }
        let (outcome, _) = result?;
        if acquired {
            // Noted even when something was held before: that may have come here from the fast path.
            self.tags.push(tag);
        }
        Ok(outcome)
    }

    fn lock_fast(&mut self, context: &LockContext, relation: RelationId, mode: TableLockMode) -> bool {
        let mut fast = context.fast.lock();
        let bit: ModeSet = 1 << mode as u8;
        if let Some((_, modes)) = fast.held.iter_mut().find(|(held, _)| *held == relation) {
            *modes |= bit;
            return true;
        }
        if context.manager.strong(relation).load(Ordering::SeqCst) != 0 {
            return false;
        }
        fast.held.push((relation, bit));
        self.fast = true;
        true
    }

    /// Gives everything back, at the transaction's end.
    pub(crate) fn release(&mut self, context: &LockContext) {
        if self.fast {
            self.fast = false;
            let mut fast = context.fast.lock();
            fast.held.clear();
            self.tags.append(&mut fast.moved);
        }
        for tag in self.tags.drain(..) {
            context.manager.release(tag, context.owner, ModeSet::MAX, 0);
        }
        for relation in self.strong.drain(..) {
            context.manager.strong(relation).fetch_sub(1, Ordering::SeqCst);
        }
    }
}

fn advisory_mode(shared: bool) -> TableLockMode {
    match shared {
        true => TableLockMode::Share,
        false => TableLockMode::Exclusive,
    }
}

/// A description of a wait, for deadlock reports.
pub(super) fn describe(wait: WaitFor) -> LockTarget {
    LockTarget::new(wait.tag, wait.mode)
}
