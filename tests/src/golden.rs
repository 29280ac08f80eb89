//! Expectations: finding the scripts, comparing what a script gave with what it should give, saying how they differ.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Server;

/// One kind of script.
pub struct Kind {
    /// The folder below `tests/`, and the first part of its tests' names.
    pub folder: &'static str,
    /// The extension of the scripts.
    pub extension: &'static str,
    /// The extension of the file with the expectation; the same as `extension` when the script contains it.
    pub expected: &'static str,
    /// Runs a script's text against a server and returns the text of the expectation.
    pub replay: fn(&str, &Path, &Server) -> Result<String, String>,
}

/// All kinds.
pub const KINDS: [Kind; 5] = [
    Kind { folder: "slt", extension: "slt", expected: "slt", replay: crate::slt::replay },
    Kind { folder: "errors", extension: "sql", expected: "expected", replay: crate::errors::replay },
    Kind { folder: "psql", extension: "sql", expected: "out", replay: crate::psql::replay },
    Kind { folder: "protocol", extension: "pt", expected: "pt", replay: crate::protocol::replay },
    Kind { folder: "isolation", extension: "spec", expected: "spec", replay: crate::isolation::replay },
];

/// The folder `tests/` of this checkout.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

impl Kind {
    /// Every script of this kind as its test's name (`slt::joins/left`) and its path, sorted.
    pub fn scripts(&self) -> Vec<(String, PathBuf)> {
        let base = root().join(self.folder);
        let mut found = Vec::new();
        collect(&base, self.extension, &mut found);
        found.sort();
        let name = |path: &PathBuf| {
            let inner = path.strip_prefix(&base).unwrap().with_extension("");
            format!("{}::{}", self.folder, inner.display())
        };
        found.into_iter().map(|path| (name(&path), path)).collect()
    }

    /// Runs the script against the server and compares; the error is a unified diff or says why it could not run.
    pub fn check(&self, path: &Path, server: &Server) -> Result<(), String> {
        let script = read(path)?;
        let expected = read(&path.with_extension(self.expected))?;
        let actual = (self.replay)(&script, path, server)?;
        if actual == expected { Ok(()) } else { Err(difference(&expected, &actual, path)) }
    }

    /// Runs the script against the server and writes what it gave as the expectation. Returns whether that is news.
    pub fn capture(&self, path: &Path, server: &Server) -> Result<bool, String> {
        let script = read(path)?;
        let target = path.with_extension(self.expected);
        let actual = (self.replay)(&script, path, server)?;
        let news = std::fs::read_to_string(&target).ok().as_ref() != Some(&actual);
        std::fs::write(&target, actual).map_err(|e| format!("{}: {e}", target.display()))?;
        Ok(news)
    }
}

fn collect(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, extension, found);
        } else if path.extension().is_some_and(|e| e == extension) {
            found.push(path);
        }
    }
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

/// The unified diff from the expected to the actual text.
pub fn difference(expected: &str, actual: &str, path: &Path) -> String {
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (folder.path().join("expected"), folder.path().join("actual"));
    std::fs::write(&old, expected).unwrap();
    std::fs::write(&new, actual).unwrap();
    let labels = ["--label=expected (PostgreSQL)", "--label=actual"];
    let diff = Command::new("diff").arg("-u").args(labels).arg(&old).arg(&new).output().unwrap();
    let (same, all) = agreement(expected, actual);
    let diff = String::from_utf8_lossy(&diff.stdout);
    format!("{} differs, {same} of {all} parts agree:\n{diff}", path.display())
}

/// How many of the expected parts, a line with the indented lines and those up to a blank line after it, are in the actual
/// text as well.
fn agreement(expected: &str, actual: &str) -> (usize, usize) {
    let parts = |text: &str| -> Vec<String> {
        let mut parts: Vec<String> = Vec::new();
        let mut open = false;
        for line in text.lines() {
            match parts.last_mut() {
                Some(part) if open || line.starts_with("  ") => {
                    part.push('\n');
                    part.push_str(line);
                }
                _ => parts.push(line.to_owned()),
            }
            open = !line.is_empty() && !line.ends_with(';') && !line.starts_with("  ");
        }
        parts
    };
    let mut unmatched = parts(actual);
    let expected = parts(expected);
    let same = expected.iter().filter(|part| {
        let found = unmatched.iter().position(|other| other == *part);
        found.map(|at| unmatched.swap_remove(at)).is_some()
    });
    (same.count(), expected.len())
}
