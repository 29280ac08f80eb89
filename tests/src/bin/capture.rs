//! Writes the expectations of scripts: what a real PostgreSQL 15 says.
//!
//! ```text
//! capture [FILTER...]                 runs the scripts whose name contains a FILTER (all without one) and writes the expectations
//! capture --into DIR [FILTER...]      writes them below DIR instead; with PGFUSION_TEST_TARGET=ours, what pgfusion says
//! capture --sql FILE.sql FILE.slt     makes an .slt script of plain SQL and captures it
//! ```

#![allow(clippy::unwrap_used, reason = "a tool for developers, which ends by panicking")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use tests::golden::{KINDS, root};
use tests::server::{Server, Target};
use tests::slt;

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("--sql") => {
            let script = slt::from_sql(&std::fs::read_to_string(&arguments[1]).unwrap());
            let target = Path::new(&arguments[2]);
            let captured = slt::replay(&script, target, &Server::postgres()).unwrap();
            std::fs::create_dir_all(target.parent().unwrap()).unwrap();
            std::fs::write(target, captured).unwrap();
            ExitCode::SUCCESS
        }
        Some("--into") => {
            let folder = PathBuf::from(&arguments[1]);
            arguments.drain(..2);
            capture(&arguments, Target::from_env(), Some(&folder))
        }
        _ => capture(&arguments, Target::Postgres, None),
    }
}

fn capture(filters: &[String], target: Target, into: Option<&Path>) -> ExitCode {
    let shared = Server::start(target);
    let mut failures = 0;
    for kind in &KINDS {
        for (name, path) in kind.scripts() {
            if !filters.is_empty() && !filters.iter().any(|f| name.contains(f.as_str())) {
                continue;
            }
            let own = (kind.folder == "psql").then(|| Server::start(target));
            let server = own.as_ref().unwrap_or(&shared);
            let result = match into {
                None => kind.capture(&path, server),
                Some(folder) => {
                    let relative = path.strip_prefix(root()).unwrap();
                    let output = folder.join(relative).with_extension(kind.expected);
                    std::fs::create_dir_all(output.parent().unwrap()).unwrap();
                    let script = std::fs::read_to_string(&path).unwrap();
                    let text = (kind.replay)(&script, &path, server);
                    text.map(|text| std::fs::write(output, text).is_ok())
                }
            };
            match result {
                Ok(true) => println!("captured {name}"),
                Ok(false) => {}
                Err(text) => {
                    eprintln!("{name} FAILED: {text}");
                    failures += 1;
                }
            }
        }
    }
    if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
