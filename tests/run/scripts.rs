//! Every script as a test of its own: `cargo nextest run -p tests slt::joins`.

use libtest_mimic::{Arguments, Failed, Trial};
use tests::golden::KINDS;
use tests::server::{Server, Target};

fn main() {
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    for kind in &KINDS {
        for (name, path) in kind.scripts() {
            trials.push(Trial::test(name, move || {
                let server = if kind.folder == "psql" { Server::from_env() } else { Server::shared() };
                kind.check(&path, &server).map_err(|text| with_log(text, &server))
            }));
        }
    }
    libtest_mimic::run(&arguments, trials).exit();
}

fn with_log(text: String, server: &Server) -> Failed {
    let log = if server.target() == Target::Ours { server.log() } else { String::new() };
    if log.is_empty() { text.into() } else { format!("{text}\n--- the server's log:\n{log}").into() }
}
