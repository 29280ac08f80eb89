//! Scripts for the real psql: what a person at the terminal sees.
//!
//! The script is psql's standard input; it starts in the database postgres of a server of its own, in an empty folder, and
//! all that it prints, errors among it, is the expectation.

use std::path::Path;
use std::process::Stdio;

use crate::Server;

/// Runs the script and returns what psql printed.
pub fn replay(script: &str, _path: &Path, server: &Server) -> Result<String, String> {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("script");
    std::fs::write(&input, script).unwrap();
    let work = folder.path().join("work");
    std::fs::create_dir(&work).unwrap();
    let mut command = server.command("sh");
    command.args(["-c", "exec psql -X -a 2>&1"]).current_dir(&work);
    command.stdin(Stdio::from(std::fs::File::open(&input).unwrap()));
    let output = command.output().map_err(|e| format!("psql: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.replace(&format!("port {}", server.port()), "port PORT"))
}
