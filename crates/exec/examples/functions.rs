//! Prints docs/functions.md: which functions, aggregates and operators of PostgreSQL 15 are implemented.
//!
//! `cargo run -p exec --example functions > docs/functions.md`

use catalog::Oid;
use catalog::pg::{LOOKUP, Proc, ProcKind};
use catalog::types::{by_oid, oid};
use exec::bind::type_info;
use exec::functions::find;
use std::collections::BTreeMap;

/// Whether all types of a function can have values here (internal functions and types that do not exist here are left out).
fn concerns_us(proc: &Proc) -> bool {
    let known = |t: &Oid| {
        !matches!(
            *t,
            oid::INTERNAL | oid::CSTRING | oid::TRIGGER | oid::PG_NODE_TREE | oid::ACLITEM | oid::XML
        ) && *t != oid::ANYRANGE
            && *t != oid::ANYMULTIRANGE
            && *t != oid::ANYENUM
            && (by_oid(*t).is_some() || type_info::is_polymorphic(*t))
    };
    proc.args.iter().all(known) && (known(&proc.result) || proc.result == oid::RECORD)
}

/// Functions that only an index, a hash table, the wire or an upgrade calls.
fn is_support(proc: &Proc) -> bool {
    let src = proc.src.as_str();
    let marks = [
        "hash",
        "in_range",
        "binary_upgrade",
        "brin_",
        "gin_",
        "gist",
        "amvalidate",
        "equalimage",
        "lo_",
        "logical",
        "replication",
    ];
    let ends = ["send", "recv", "_accum", "_combine", "_accum_inv", "statefunc", "sum_inv"];
    marks.iter().any(|m| src.contains(m)) || ends.iter().any(|e| src.ends_with(e))
}

fn signature(proc: &Proc) -> String {
    let args: Vec<String> = proc.args.iter().map(|t| type_info::format(*t)).collect();
    format!("{}({})", proc.name, args.join(", "))
}

fn main() {
    let mut done: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut missing: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let (mut implemented, mut concerned) = (0, 0);
    for proc in &LOOKUP.procs {
        let kind = match proc.kind {
            ProcKind::Function | ProcKind::Procedure => "Functions",
            ProcKind::Aggregate => "Aggregates",
            ProcKind::Window => "Window functions",
        };
        if find(proc).is_some() {
            implemented += 1;
            *done.entry((kind, proc.name.as_str())).or_default() += 1;
            concerned += usize::from(concerns_us(proc) && !is_support(proc));
        } else if concerns_us(proc) && !is_support(proc) {
            concerned += 1;
            missing.entry(kind).or_default().push(signature(proc));
        }
    }
    let operators = &LOOKUP.operators;
    let works = |code: Oid| LOOKUP.proc(code).is_some_and(|p| find(p).is_some());
    let operator_count = operators.iter().filter(|o| works(o.code)).count();

    println!("# Functions and operators\n");
    println!("Made by `cargo run -p exec --example functions > docs/functions.md`; do not edit.\n");
    println!(
        "Calls resolve over all {} functions of PostgreSQL 15; those without an implementation raise 0A000.",
        LOOKUP.procs.len()
    );
    println!(
        "Implemented: {implemented} rows of pg_proc ({concerned} concern types that exist here and are not internal), \
         {operator_count} of {} operators.\n",
        operators.len()
    );
    for kind in ["Functions", "Aggregates", "Window functions"] {
        println!("## {kind}, implemented\n");
        println!("The number of signatures in brackets where there are several.\n");
        let names: Vec<String> = done
            .iter()
            .filter(|((k, _), _)| *k == kind)
            .map(
                |((_, name), count)| {
                    if *count > 1 { format!("`{name}` ({count})") } else { format!("`{name}`") }
                },
            )
            .collect();
        println!("{}\n", names.join(", "));
    }
    println!("## Not implemented\n");
    for (kind, mut list) in missing {
        list.sort();
        println!("### {kind}\n");
        for signature in list {
            println!("- `{signature}`");
        }
        println!();
    }
    println!("## Operators, not implemented\n");
    for operator in operators.iter().filter(|o| !works(o.code)) {
        let known = |t: Oid| !t.is_valid() || by_oid(t).is_some() || type_info::is_polymorphic(t);
        if known(operator.left)
            && known(operator.right)
            && LOOKUP.proc(operator.code).is_some_and(concerns_us)
        {
            let left =
                if operator.left.is_valid() { type_info::format(operator.left) + " " } else { String::new() };
            println!("- `{left}{} {}`", operator.name, type_info::format(operator.right));
        }
    }
}
