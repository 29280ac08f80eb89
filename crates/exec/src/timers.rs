//! Timeouts of running statements: one thread watches those of all sessions, and starts with the first.

use parking_lot::{Condvar, Mutex};
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};
use storage::{Interrupt, InterruptReason};

/// Deadlines in order; the number tells equal ones apart.
type Deadline = (Instant, u64);

#[derive(Default)]
struct Timers {
    state: Mutex<State>,
    /// Signalled when an earlier deadline than all others has come.
    earlier: Condvar,
}

#[derive(Default)]
struct State {
    deadlines: BTreeMap<Deadline, Arc<Interrupt>>,
    last_number: u64,
    is_running: bool,
}

static TIMERS: LazyLock<Timers> = LazyLock::new(Timers::default);

/// Raises `StatementTimeout` on a session's interrupt after this long, unless what is returned has been dropped by then.
pub(crate) fn statement_timeout(interrupt: &Arc<Interrupt>, after: Duration) -> Option<Armed> {
    let mut state = TIMERS.state.lock();
    if !state.is_running {
        let watcher = std::thread::Builder::new().name("statement timeouts".into());
        if let Err(error) = watcher.spawn(watch) {
            tracing::warn!("could not start the thread that watches over statement_timeout: {error}");
            return None;
        }
        state.is_running = true;
    }
    state.last_number += 1;
    let deadline = (Instant::now() + after, state.last_number);
    let is_earliest = state.deadlines.first_key_value().is_none_or(|(first, _)| deadline < *first);
    state.deadlines.insert(deadline, Arc::clone(interrupt));
    drop(state);
    if is_earliest {
        TIMERS.earlier.notify_one();
    }
    Some(Armed { deadline, interrupt: Arc::clone(interrupt) })
}

/// A timeout that is being watched. Dropping it ends the watch and takes back a timeout that has come too late.
pub(crate) struct Armed {
    deadline: Deadline,
    interrupt: Arc<Interrupt>,
}

impl Drop for Armed {
    fn drop(&mut self) {
        if TIMERS.state.lock().deadlines.remove(&self.deadline).is_none() {
            self.interrupt.clear(InterruptReason::StatementTimeout);
        }
    }
}

fn watch() {
    let mut state = TIMERS.state.lock();
    loop {
        match state.deadlines.first_entry() {
            None => TIMERS.earlier.wait(&mut state),
            Some(first) if first.key().0 <= Instant::now() => {
                // Raised under the lock, so that a dropped timeout is not raised afterwards.
                first.remove().raise(InterruptReason::StatementTimeout);
            }
            Some(first) => {
                let until = first.key().0;
                TIMERS.earlier.wait_until(&mut state, until);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_is_raised_in_time_and_forgotten_with_its_statement() {
        let (short, long) = (Arc::new(Interrupt::new()), Arc::new(Interrupt::new()));
        let long_armed = statement_timeout(&long, Duration::from_secs(60));
        let short_armed = statement_timeout(&short, Duration::from_millis(5));
        let start = Instant::now();
        while short.pending().is_none() {
            assert!(start.elapsed() < Duration::from_secs(10), "not raised");
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(short.pending(), Some(InterruptReason::StatementTimeout));
        drop(short_armed);
        assert_eq!(short.pending(), None);
        drop(long_armed);
        assert_eq!(long.pending(), None);
    }
}
