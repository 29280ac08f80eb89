//! Circles of waits. A session that has waited for `deadlock_timeout` follows the edges from itself; if they lead back, it
//! gives way (PostgreSQL's `DeadLockCheck`, without its reordering of queues).

use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::context::{self, LockContext};
use super::modes::LockTag;
use super::table::{LockManager, LockTarget, Waiter};

/// One session of a circle, and what it waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadlockEdge {
    /// The session that waits.
    pub process_id: i32,
    /// For what, and in which mode.
    pub target: LockTarget,
    /// The session that is in its way.
    pub blocked_by: i32,
}

/// Looks for a circle through `context`'s wait, and if there is one, withdraws the request and returns it.
pub(super) fn resolve(
    manager: &LockManager,
    context: &LockContext,
    tag: LockTag,
    waiter: &Arc<Waiter>,
) -> Option<Vec<DeadlockEdge>> {
    // IMPORTANT: one detector at a time, and the victim leaves its queue before the next one looks: one victim per circle.
    let _one = manager.detector.lock();
    let cycle = find(manager, context.owner)?;
    // Edges were read one after another. A circle that is still there on a second look is real: only its own members
    // could break it, and they all wait.
    let cycle = find(manager, context.owner).filter(|second| second.len() == cycle.len())?;
    manager.withdraw(tag, waiter).then_some(cycle)
}

fn find(manager: &LockManager, start: u64) -> Option<Vec<DeadlockEdge>> {
    let mut path = Vec::new();
    let mut visited = FxHashSet::default();
    search(manager, start, start, &mut visited, &mut path).then_some(path)
}

/// Depth first; on success `path` holds the edges from `owner` back to `start`.
fn search(
    manager: &LockManager,
    owner: u64,
    start: u64,
    visited: &mut FxHashSet<u64>,
    path: &mut Vec<DeadlockEdge>,
) -> bool {
    let Some(context) = manager.context(owner) else { return false };
    let Some(wait) = *context.waiting.lock() else { return false };
    for blocker in manager.blockers(wait.tag, owner) {
        let edge = DeadlockEdge {
            process_id: context.process_id(),
            target: context::describe(wait),
            blocked_by: manager.context(blocker).map_or(0, |context| context.process_id()),
        };
        path.push(edge);
        if blocker == start {
            return true;
        }
        if visited.insert(blocker) && search(manager, blocker, start, visited, path) {
            return true;
        }
        path.pop();
    }
    false
}
