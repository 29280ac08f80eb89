//! The load of a URL shortener: `links URL CONNECTIONS SECONDS ROWS`.
//!
//! Each connection prepares `SELECT url FROM links WHERE code = $1` and `INSERT INTO links (code, url) VALUES ($1, $2)`, as a
//! Go program with database/sql does, and runs ten reads to one write until the time is up. The reads check what they get.

#![allow(clippy::unwrap_used, reason = "a load program ends by panicking")]

use std::time::{Duration, Instant};

use rand::RngExt;
use tokio_postgres::NoTls;

#[derive(Default)]
struct Figures {
    reads: Vec<Duration>,
    writes: Vec<Duration>,
    errors: usize,
}

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, connections, seconds, rows] = &arguments[..] else {
        eprintln!("usage: links URL CONNECTIONS SECONDS ROWS");
        std::process::exit(2);
    };
    let (connections, rows): (usize, u32) = (connections.parse().unwrap(), rows.parse().unwrap());
    let seconds: u64 = seconds.parse().unwrap();
    let end = Instant::now() + Duration::from_secs(seconds);
    let run = format!("{:x}", rand::rng().random::<u64>());
    let tasks: Vec<_> = (0..connections)
        .map(|n| tokio::spawn(connection(url.clone(), format!("{run}-{n}"), rows, end)))
        .collect();
    let mut total = Figures::default();
    for task in tasks {
        let figures = task.await.unwrap();
        total.reads.extend(figures.reads);
        total.writes.extend(figures.writes);
        total.errors += figures.errors;
    }
    for (name, times) in [("reads", &mut total.reads), ("writes", &mut total.writes)] {
        times.sort();
        let at =
            |percent: usize| times.get(times.len() * percent / 100).map_or(0.0, |t| t.as_secs_f64() * 1000.0);
        println!(
            "{name}: {:.0}/s, p50 {:.3} ms, p95 {:.3} ms, p99 {:.3} ms",
            times.len() as f64 / seconds as f64,
            at(50),
            at(95),
            at(99)
        );
    }
    println!("{} errors", total.errors);
    std::process::exit(i32::from(total.errors > 0));
}

async fn connection(url: String, name: String, rows: u32, end: Instant) -> Figures {
    let (client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
    tokio::spawn(connection);
    let select = client.prepare("SELECT url FROM links WHERE code = $1").await.unwrap();
    let insert = client.prepare("INSERT INTO links (code, url) VALUES ($1, $2)").await.unwrap();
    let mut figures = Figures::default();
    let mut written: u32 = 0;
    while Instant::now() < end {
        for _ in 0..10 {
            // Now and then one of our own, which must be there.
            let own = written > 0 && rand::random::<u8>() < 32;
            let (code, expected) = if own {
                let n = rand::random_range(0..written);
                (format!("{name}-{n}"), format!("https://example.com/{name}/{n}"))
            } else {
                let n = rand::random_range(1..=rows);
                (format!("seed{n:06}"), format!("https://example.com/page/{n}"))
            };
            let start = Instant::now();
            let found = client.query(&select, &[&code]).await;
            figures.reads.push(start.elapsed());
            if !found.is_ok_and(|rows| rows.len() == 1 && rows[0].get::<_, &str>(0) == expected) {
                figures.errors += 1;
            }
            if Instant::now() >= end {
                break;
            }
        }
        let (code, address) = (format!("{name}-{written}"), format!("https://example.com/{name}/{written}"));
        let start = Instant::now();
        let inserted = client.execute(&insert, &[&code, &address]).await;
        figures.writes.push(start.elapsed());
        match inserted {
            Ok(1) => written += 1,
            _ => figures.errors += 1,
        }
    }
    figures
}
