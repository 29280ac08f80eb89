//! The store's two threads: one moves the delta to the base, one syncs relaxed commits and makes log files ahead of need.

use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use crate::core::Core;
use crate::error::StoreError;

/// So many files stand ready for the log to go on in.
pub(crate) const SPARES_MIN: usize = 2;
/// A delta below this size is let be for five times the idle time: it slows nobody down.
const IDLE_BYTES_MIN: usize = 64 << 10;
/// How long to wait after a failed checkpoint.
const RETRY: Duration = Duration::from_secs(5);

/// How sessions and the two threads tell each other what there is to do.
#[derive(Default)]
pub(crate) struct Signals {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    stopped: bool,
    /// When the last commit was, and the first one that no checkpoint has taken up.
    last_commit: Option<Instant>,
    first_commit: Option<Instant>,
    checkpoint_due: bool,
    /// Counts checkpoints that have ended, in whatever way.
    checkpoints: u64,
    last_failure: Option<StoreError>,
    flush_since: Option<Instant>,
    files_wanted: bool,
}

impl Signals {
    /// Notes a commit; `due` asks for a checkpoint at once.
    pub(crate) fn committed(&self, due: bool) {
        let mut state = self.state.lock();
        let now = Instant::now();
        state.last_commit = Some(now);
        let wake = state.first_commit.is_none() || (due && !state.checkpoint_due);
        state.first_commit.get_or_insert(now);
        state.checkpoint_due |= due;
        if wake {
            self.changed.notify_all();
        }
    }

    /// Notes that something in the log waits to be synced.
    pub(crate) fn flush_later(&self) {
        let mut state = self.state.lock();
        if state.flush_since.is_none() {
            state.flush_since = Some(Instant::now());
            self.changed.notify_all();
        }
    }

    /// Notes that the log should have more files to go on in.
    pub(crate) fn files_wanted(&self) {
        let mut state = self.state.lock();
        if !std::mem::replace(&mut state.files_wanted, true) {
            self.changed.notify_all();
        }
    }

    /// Sleeps until a checkpoint has ended. Fails as the last one failed.
    pub(crate) fn wait_for_checkpoint(&self) -> Result<(), StoreError> {
        let mut state = self.state.lock();
        if let Some(failure) = &state.last_failure {
            return Err(failure.clone());
        }
        state.checkpoint_due = true;
        self.changed.notify_all();
        let seen = state.checkpoints;
        while state.checkpoints == seen && !state.stopped {
            self.changed.wait(&mut state);
        }
        Ok(())
    }

    /// Whether nobody has committed for as long as `time`.
    pub(crate) fn is_quiet(&self, time: Duration) -> bool {
        self.state.lock().last_commit.is_none_or(|last| last.elapsed() > time)
    }

    /// Notes that a checkpoint takes up all commits so far.
    pub(crate) fn checkpoint_begins(&self) {
        let mut state = self.state.lock();
        state.first_commit = None;
        state.checkpoint_due = false;
    }

    pub(crate) fn checkpoint_ended(&self, failure: Option<StoreError>) {
        let mut state = self.state.lock();
        if failure.is_some() {
            // What was taken up is still to be written.
            state.first_commit.get_or_insert_with(Instant::now);
        }
        state.last_failure = failure;
        state.checkpoints += 1;
        self.changed.notify_all();
    }

    fn stop(&self) {
        self.state.lock().stopped = true;
        self.changed.notify_all();
    }
}

/// The running threads. Dropping stops them.
pub(crate) struct Threads {
    core: Arc<Core>,
    handles: Vec<JoinHandle<()>>,
}

impl Threads {
    pub(crate) fn start(core: &Arc<Core>) -> Result<Threads, StoreError> {
        let mut threads = Threads { core: Arc::clone(core), handles: Vec::new() };
        threads.spawn("storage-checkpoint", run_checkpoints)?;
        threads.spawn("storage-log", run_flushes)?;
        Ok(threads)
    }

    fn spawn(&mut self, name: &str, job: fn(&Core)) -> Result<(), StoreError> {
        let core = Arc::clone(&self.core);
        let handle = thread::Builder::new().name(name.to_owned()).spawn(move || {
            if panic::catch_unwind(AssertUnwindSafe(|| job(&core))).is_err() {
                // Without its thread the store would take commits until it can take no more; better it stops now.
                let failure = StoreError::corrupt("store", "a background thread panicked");
                core.order.lock().poison(&failure);
                core.signals.checkpoint_ended(Some(failure));
            }
        });
        self.handles.push(handle.map_err(|error| StoreError::io("start a thread", error))?);
        Ok(())
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.core.signals.stop();
        for handle in self.handles.drain(..) {
            if handle.join().is_err() {
                tracing::error!("a background thread of the store panicked");
            }
        }
    }
}

fn run_checkpoints(core: &Core) {
    let mut retry_at: Option<Instant> = None;
    loop {
        {
            let mut state = core.signals.state.lock();
            loop {
                if state.stopped {
                    return;
                }
                match next_checkpoint(core, &state, retry_at) {
                    Some(wait) if wait.is_zero() => break,
                    Some(wait) => drop(core.signals.changed.wait_for(&mut state, wait)),
                    None => core.signals.changed.wait(&mut state),
                }
            }
        }
        match core.checkpoint() {
            Ok(()) => retry_at = None,
            Err(error) => {
                tracing::error!(%error, "checkpoint failed");
                retry_at = Some(Instant::now() + RETRY);
            }
        }
    }
}

/// How long until a checkpoint is due; none while there is nothing to write.
fn next_checkpoint(core: &Core, state: &State, retry_at: Option<Instant>) -> Option<Duration> {
    let options = &core.options;
    let until = |at: Option<Instant>| at.map(|at| at.saturating_duration_since(Instant::now()));
    let due = match (state.checkpoint_due, state.first_commit, state.last_commit) {
        (true, _, _) => Some(Duration::ZERO),
        (false, Some(first), Some(last)) => {
            let small = core.delta_bytes.load(std::sync::atomic::Ordering::Relaxed) < IDLE_BYTES_MIN;
            let idle = options.checkpoint_idle * if small { 5 } else { 1 };
            let times = [last.checked_add(idle), first.checked_add(options.checkpoint_interval)];
            until(times.into_iter().flatten().min())
        }
        (false, _, _) => None,
    };
    due.map(|due| until(retry_at).unwrap_or_default().max(due))
}

fn run_flushes(core: &Core) {
    loop {
        let (flush, fill) = {
            let mut state = core.signals.state.lock();
            loop {
                let due = state.flush_since.map(|since| since + core.options.flush_interval);
                let wait = due.map(|due| due.saturating_duration_since(Instant::now()));
                let flush = wait.is_some_and(|wait| wait.is_zero() || state.stopped);
                if flush || state.files_wanted && !state.stopped {
                    if flush {
                        state.flush_since = None;
                    }
                    break (flush, std::mem::take(&mut state.files_wanted));
                }
                match wait {
                    _ if state.stopped => return,
                    Some(wait) => drop(core.signals.changed.wait_for(&mut state, wait)),
                    None => core.signals.changed.wait(&mut state),
                }
            }
        };
        if flush {
            core.flush_log();
        }
        if fill {
            core.fill_spares();
        }
    }
}

impl Core {
    /// Syncs whatever relaxed commits have left.
    pub(crate) fn flush_log(&self) {
        let mut order = self.order.lock();
        if order.check().is_ok()
            && let Err(error) = order.log.sync()
        {
            order.poison(&error);
        }
    }

    /// Makes log files ahead of need, so that no commit waits for one.
    fn fill_spares(&self) {
        loop {
            let (number, files) = {
                let mut order = self.order.lock();
                if order.log.spares() >= SPARES_MIN || order.check().is_err() {
                    return;
                }
                (order.log.take_file_number(), order.log.files())
            };
            match files.create(number, self.options.sync) {
                Ok(spare) => self.order.lock().log.add_spare(spare),
                Err(error) => {
                    tracing::warn!(%error, "could not make a log file ahead of need");
                    return;
                }
            }
        }
    }
}
