//! Busy polling: a session whose client answers at once looks for the next message for a moment before it goes to sleep.
//!
//! To wake a sleeping thread costs more than to serve a point select. A session polls only while its client has just shown that it
//! is quick, gives its core to any other thread that could run, and at most half of the cores are polled on at a time; so an idle
//! client costs nothing and a busy machine loses little. The idea is that of Linux's `SO_BUSY_POLL`, a level higher.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How long sessions poll, and how many may do so at a time; shared by all sessions.
#[derive(Clone, Debug)]
pub(crate) struct Polling(Option<Arc<Slots>>);

#[derive(Debug)]
struct Slots {
    window: Duration,
    free: AtomicUsize,
}

impl Polling {
    /// Polling for up to `window` on half of the machine's cores. With a window of zero or on a single core nobody polls.
    pub(crate) fn new(window: Duration) -> Polling {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let slots = cores / 2;
        Polling(
            (slots > 0 && !window.is_zero())
                .then(|| Arc::new(Slots { window, free: AtomicUsize::new(slots) })),
        )
    }

    /// The right to poll now, if there is room.
    fn enter(&self) -> Option<Turn<'_>> {
        let slots = self.0.as_deref()?;
        let take = |free: usize| free.checked_sub(1);
        slots.free.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).ok()?;
        Some(Turn(slots))
    }
}

/// A slot taken; given back when dropped.
struct Turn<'s>(&'s Slots);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.free.fetch_add(1, Ordering::Relaxed);
    }
}

/// How one client has answered lately.
#[derive(Clone, Debug)]
pub(crate) struct Patience {
    polling: Polling,
    /// The last answer came within the window.
    quick: bool,
}

impl Patience {
    /// Of a client that nothing is known of.
    pub(crate) fn new(polling: Polling) -> Patience {
        Patience { polling, quick: false }
    }

    /// What `attempt` finds (`None`: nothing yet) if it finds something while this session polls; else what `wait` returns, which
    /// may sleep. Both get what they read `from`.
    pub(crate) fn receive<F, T>(
        &mut self,
        mut from: F,
        attempt: impl Fn(&mut F) -> Option<T>,
        wait: impl FnOnce(&mut F) -> T,
    ) -> T {
        let Some(slots) = self.polling.0.as_deref() else { return wait(&mut from) };
        let window = slots.window;
        let started = Instant::now();
        if self.quick
            && let Some(_turn) = self.polling.enter()
        {
            loop {
                if let Some(found) = attempt(&mut from) {
                    return found;
                }
                if started.elapsed() >= window {
                    break;
                }
                std::thread::yield_now();
            }
        }
        let found = wait(&mut from);
        self.quick = started.elapsed() < window;
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread::sleep;

    fn of_slots(free: usize) -> Polling {
        Polling(Some(Arc::new(Slots { window: Duration::from_millis(200), free: AtomicUsize::new(free) })))
    }

    #[test]
    fn only_a_quick_client_is_polled_for() {
        let mut patience = Patience::new(of_slots(1));
        assert_eq!(patience.receive((), |()| Some("polled"), |()| "waited"), "waited");
        assert_eq!(patience.receive((), |()| Some("polled"), |()| "waited"), "polled");
        let slow = |(): &mut ()| {
            sleep(Duration::from_millis(250));
            "waited"
        };
        assert_eq!(patience.receive((), |()| None, slow), "waited");
        assert_eq!(patience.receive((), |()| Some("polled"), |()| "waited"), "waited");
    }

    #[test]
    fn no_more_sessions_poll_than_there_are_slots() {
        let polling = of_slots(1);
        let turn = polling.enter();
        assert!(turn.is_some() && polling.enter().is_none());
        drop(turn);
        assert!(polling.enter().is_some());
        let mut patience = Patience { polling: of_slots(0), quick: true };
        assert_eq!(patience.receive((), |()| Some("polled"), |()| "waited"), "waited");
        assert!(Polling::new(Duration::ZERO).enter().is_none());
    }
}
