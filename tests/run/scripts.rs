//! Every script as a test of its own: `cargo nextest run -p tests slt::joins`.

use libtest_mimic::{Arguments, Failed, Trial};
use tests::golden::KINDS;
use tests::server::{Server, Target};

/// Scripts in which pgfusion differs from PostgreSQL today, in one statement or a few. Each must go on differing, so that whoever
/// mends one has to take it off the list.
const NOT_YET: &str = include_str!("not-yet.txt");

/// The kinds whose scripts run again with literals left in the statements: sharing plans must not change any result.
const LIFTED: [&str; 2] = ["slt", "errors"];

fn main() {
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    for kind in &KINDS {
        for (name, path) in kind.scripts() {
            let not_yet = NOT_YET.lines().any(|line| line == name);
            if LIFTED.contains(&kind.folder) && Target::from_env() == Target::Ours && !not_yet {
                let path = path.clone();
                trials.push(Trial::test(format!("unlifted::{name}"), move || {
                    let server = Server::shared();
                    let mut setting = server.command("psql");
                    setting.args(["-Xqc", "alter role postgres set pgfusion.literal_lifting = off"]);
                    match setting.status() {
                        Ok(status) if status.success() => {}
                        other => return Err(format!("could not set the server up: {other:?}").into()),
                    }
                    kind.check(&path, &server).map_err(|text| with_log(text, &server))
                }));
            }
            trials.push(Trial::test(name, move || {
                let server = if kind.folder == "psql" { Server::from_env() } else { Server::shared() };
                let result = kind.check(&path, &server).map_err(|text| with_log(text, &server));
                match (result, not_yet && server.target() == Target::Ours) {
                    (Err(_), true) => Ok(()),
                    (Ok(()), true) => Err("agrees by now: take it out of tests/run/not-yet.txt".into()),
                    (result, false) => result,
                }
            }));
        }
    }
    libtest_mimic::run(&arguments, trials).exit();
}

fn with_log(text: String, server: &Server) -> Failed {
    let log = if server.target() == Target::Ours { server.log() } else { String::new() };
    if log.is_empty() { text.into() } else { format!("{text}\n--- the server's log:\n{log}").into() }
}
