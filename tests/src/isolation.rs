//! Steps of several sessions, and which of them wait.
//!
//! ```text
//! # What this shows.
//! setup: create table t (k int primary key, v int)
//! a: begin                               <- a step: the session's name and a statement
//!   BEGIN                                <- what came back; these lines are written by `capture`
//! b: update t set v = 2 where k = 1
//!   waiting ...                          <- nothing came back in a second
//! a: commit
//!   COMMIT
//!   b: UPDATE 1                          <- b's step came back after this one
//! ```

use std::collections::HashMap;
use std::fmt::Write;
use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use crate::client::Outcome;
use crate::{Client, Server};

/// A step that has not come back after this time waits for another session.
const WAIT: Duration = Duration::from_secs(1);
/// A step that waited comes back this long after what it waited for, at the latest.
const RELEASE: Duration = Duration::from_secs(3);

struct Session {
    steps: Sender<String>,
    outcomes: Receiver<io::Result<Outcome>>,
    waiting: bool,
}

/// Runs the script and returns it with what came back written into it.
pub fn replay(script: &str, path: &Path, server: &Server) -> Result<String, String> {
    let database = server.database();
    let mut sessions: HashMap<String, Session> = HashMap::new();
    let mut order: Vec<String> = Vec::new();
    let mut output = String::new();
    for line in script.lines().filter(|l| !l.starts_with("  ")) {
        writeln!(output, "{line}").unwrap();
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let (name, sql) =
            line.split_once(": ").ok_or_else(|| format!("{}: no step: {line}", path.display()))?;
        if !sessions.contains_key(name) {
            let client =
                Client::connect(server, &database).map_err(|e| format!("{}: {e}", path.display()))?;
            sessions.insert(name.to_owned(), start(client));
            order.push(name.to_owned());
        }
        let session = sessions.get_mut(name).expect("just inserted");
        if session.waiting {
            return Err(format!("{}: {name} still waits at: {line}\n{output}", path.display()));
        }
        session.steps.send(sql.to_owned()).map_err(|e| e.to_string())?;
        match session.outcomes.recv_timeout(WAIT) {
            Ok(outcome) => output.push_str(&describe("  ", outcome)),
            Err(RecvTimeoutError::Timeout) => {
                session.waiting = true;
                output.push_str("  waiting ...\n");
            }
            Err(RecvTimeoutError::Disconnected) => return Err(format!("{}: {name} is gone", path.display())),
        }
        release(&mut sessions, &order, name, &mut output);
    }
    // A session that still waits when the script ends is released by the others' end.
    Ok(output)
}

/// Writes what came back from the sessions that waited. Once one has, the others get their time too.
fn release(sessions: &mut HashMap<String, Session>, order: &[String], current: &str, output: &mut String) {
    let may_release = !sessions[current].waiting || order.iter().any(|n| n != current && sessions[n].waiting);
    if !may_release {
        return;
    }
    for name in order {
        let session = sessions.get_mut(name).expect("every session is in the order");
        if !session.waiting {
            continue;
        }
        // A step that just began to wait has had its time; only a deadlock's end can release it.
        if let Ok(outcome) = session.outcomes.recv_timeout(if name == current { RELEASE } else { WAIT }) {
            session.waiting = false;
            output.push_str(&describe(&format!("  {name}: "), outcome));
        }
    }
}

fn start(mut client: Client) -> Session {
    let (steps, inbox) = channel::<String>();
    let (outbox, outcomes) = channel();
    std::thread::spawn(move || {
        for sql in inbox {
            if outbox.send(client.simple(&sql)).is_err() {
                return;
            }
        }
    });
    Session { steps, outcomes, waiting: false }
}

fn describe(prefix: &str, outcome: io::Result<Outcome>) -> String {
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(e) => return format!("{prefix}{e}\n"),
    };
    let mut text = String::new();
    for row in &outcome.rows {
        let values: Vec<_> = row.iter().map(|v| v.as_deref().unwrap_or("NULL")).collect();
        writeln!(text, "{prefix}{}", values.join(" | ")).unwrap();
    }
    if outcome.error.is_some() {
        writeln!(text, "{prefix}{}: {}", outcome.error_field('C'), outcome.error_field('M')).unwrap();
    } else {
        writeln!(text, "{prefix}{}", outcome.tag.as_deref().unwrap_or("no tag")).unwrap();
    }
    text
}
