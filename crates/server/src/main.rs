//! `pgfusion`: a PostgreSQL-compatible SQL server. This crate is about who is connected: configuration, listener, sessions,
//! cancel requests, shutdown.
//!
//! The life of a connection: [`listener`] accepts it and starts a thread; [`session`] brings it through startup and serves its
//! messages until it ends; [`registry`] knows all of them, for cancel requests and the shutdown.

mod config;
mod listener;
mod polling;
mod registry;
mod session;
mod socket;

use config::Config;
use exec::engine::Engine;
use listener::Listener;
use polling::Polling;
use registry::Registry;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io::Write;
use std::process::ExitCode;

/// A short statement allocates a few dozen times; glibc's allocator took an eighth of an INSERT's CPU time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("pgfusion: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Serves until a signal asks for the end.
fn run() -> Result<(), String> {
    let config = Config::load()?;
    tracing_subscriber::fmt()
        .with_env_filter(&config.log)
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .with_target(false)
        .init();

    let mut signals =
        Signals::new([SIGINT, SIGTERM]).map_err(|e| format!("could not handle signals: {e}"))?;
    let listener = Listener::bind(&config.listen)?;
    let data_dir = config.engine.data_dir.display().to_string();
    let registry = Registry::new(config.engine.max_connections);
    let engine = Engine::open(config.engine).map_err(|error| {
        let detail = error.fields().detail.as_ref().map(|d| format!("\n{d}")).unwrap_or_default();
        format!("could not open the data directory \"{data_dir}\": {}{detail}", error.message())
    })?;
    #[cfg(feature = "relational")]
    {
        let relational = relational::DataFusion::new(relational::Options::from_environment())
            .map_err(|error| format!("could not start the relational path: {error}"))?;
        engine.set_relational(relational);
    }
    engine.keep_statistics().map_err(|error| format!("could not keep statistics: {}", error.message()))?;
    let address = listener.address();
    let accepting = listener.start(engine.clone(), registry.clone(), Polling::new(config.busy_poll))?;

    let mut stdout = std::io::stdout();
    // Whoever started the server may have closed the pipe; that is no reason to stop.
    let _ = writeln!(stdout, "pgfusion ready on {address}, data in {data_dir}");
    let _ = stdout.flush();

    let signal = signals.forever().next();
    tracing::info!("received signal {signal:?}, shutting down");
    // A second signal ends the process at once; the log makes up for the missing checkpoint.
    std::thread::spawn(move || {
        if signals.forever().next().is_some() {
            std::process::exit(1);
        }
    });
    accepting.stop();
    registry.terminate_all();
    engine.close().map_err(|error| format!("could not close the store: {}", error.message()))
}
