//! Configuration: flag, environment variable, file, default, in this order of precedence.

use clap::Parser;
use exec::engine::EngineOptions;
use serde::Deserialize;
use std::path::PathBuf;
use std::time::Duration;

/// The default of `busy_poll`: a client on the same machine that does nothing between statements answers within it.
const BUSY_POLL: Duration = Duration::from_micros(100);

/// A PostgreSQL-compatible SQL server.
#[derive(Parser, Debug)]
#[command(name = "pgfusion", version, about, max_term_width = 100)]
struct Flags {
    /// Address and port to listen on; port 0 takes a free one [default: 127.0.0.1:5432]
    #[arg(long, env = "PGFUSION_LISTEN", value_name = "HOST:PORT")]
    listen: Option<String>,

    /// Directory of the data, made if it does not exist [default: ./pgfusion-data]
    #[arg(long, env = "PGFUSION_DATA_DIR", value_name = "DIR")]
    data_dir: Option<PathBuf>,

    /// File in TOML with any of these settings, by the same names with underscores (listen = "...") [default: none]
    #[arg(long, env = "PGFUSION_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,

    /// Most sessions at once [default: 200]
    #[arg(long, env = "PGFUSION_MAX_CONNECTIONS", value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    max_connections: Option<u32>,

    /// Write a checkpoint when recent commits take so much memory: a number with kB, MB or GB [default: 64MB]
    #[arg(long, env = "PGFUSION_CHECKPOINT_SIZE", value_name = "SIZE")]
    checkpoint_size: Option<String>,

    /// Write a checkpoint at the latest after so long: a number with s, min or h [default: 5min]
    #[arg(long, env = "PGFUSION_CHECKPOINT_TIMEOUT", value_name = "TIME")]
    checkpoint_timeout: Option<String>,

    /// Whether commits wait until the device has them; off risks all data in a crash of the machine [default: on]
    #[arg(long, env = "PGFUSION_FSYNC", value_name = "on|off")]
    fsync: Option<String>,

    /// How long a session looks for a quick client's next message before it sleeps, on at most half of the cores: a number with
    /// us or ms; 0us for never [default: 100us]
    #[arg(long, env = "PGFUSION_BUSY_POLL", value_name = "TIME")]
    busy_poll: Option<String>,

    /// What is logged to standard error: error, warn, info, debug, trace or off, also per crate (warn,exec=debug) [default: warn]
    #[arg(long, env = "PGFUSION_LOG", value_name = "LEVEL")]
    log: Option<String>,
}

/// The settings of the file.
#[derive(Deserialize, Default, Debug)]
#[serde(deny_unknown_fields)]
struct File {
    listen: Option<String>,
    data_dir: Option<PathBuf>,
    max_connections: Option<u32>,
    checkpoint_size: Option<String>,
    checkpoint_timeout: Option<String>,
    fsync: Option<Switch>,
    busy_poll: Option<String>,
    log: Option<String>,
}

/// A boolean of the file: `true` as well as `"on"`.
#[derive(Deserialize, Debug)]
#[serde(untagged)]
enum Switch {
    Bool(bool),
    Word(String),
}

/// The settings in force.
#[derive(Debug)]
pub(crate) struct Config {
    /// `HOST:PORT`
    pub(crate) listen: String,
    /// What the engine is opened with.
    pub(crate) engine: EngineOptions,
    /// See [`crate::polling`].
    pub(crate) busy_poll: Duration,
    /// Filter of the log.
    pub(crate) log: String,
}

impl Config {
    /// Reads the command line, the environment and the file. Prints help and ends the process if that is asked for.
    pub(crate) fn load() -> Result<Config, String> {
        let flags = Flags::parse();
        let file = match &flags.config {
            None => File::default(),
            Some(path) => {
                let failed = |error: &dyn std::fmt::Display| {
                    format!("could not read the configuration file \"{}\": {error}", path.display())
                };
                let text = std::fs::read_to_string(path).map_err(|e| failed(&e))?;
                toml::from_str(&text).map_err(|e| failed(&e))?
            }
        };
        resolve(flags, file)
    }
}

fn resolve(flags: Flags, file: File) -> Result<Config, String> {
    let mut engine =
        EngineOptions::new(flags.data_dir.or(file.data_dir).unwrap_or_else(|| "./pgfusion-data".into()));
    if let Some(number) = flags.max_connections.or(file.max_connections) {
        if !(1..=100_000).contains(&number) {
            return Err(format!("max_connections must be from 1 to 100000, not {number}"));
        }
        engine.max_connections = number;
    }
    if let Some(size) = flags.checkpoint_size.or(file.checkpoint_size) {
        let units = [("B", 1), ("kB", 1 << 10), ("MB", 1 << 20), ("GB", 1 << 30)];
        let bytes = quantity(&size, &units).filter(|bytes| *bytes >= 1 << 20);
        engine.checkpoint_bytes = bytes
            .and_then(|bytes| bytes.try_into().ok())
            .ok_or_else(|| format!("checkpoint_size must be a size of at least 1MB, not \"{size}\""))?;
    }
    if let Some(time) = flags.checkpoint_timeout.or(file.checkpoint_timeout) {
        let units = [("s", 1), ("min", 60), ("h", 3600)];
        let seconds = quantity(&time, &units).filter(|seconds| (1..=86_400).contains(seconds));
        engine.checkpoint_interval = seconds
            .map(Duration::from_secs)
            .ok_or_else(|| format!("checkpoint_timeout must be a time from 1s to 24h, not \"{time}\""))?;
    }
    let fsync = match (flags.fsync, file.fsync) {
        (Some(word), _) | (None, Some(Switch::Word(word))) => match word.as_str() {
            "on" | "true" => Some(true),
            "off" | "false" => Some(false),
            _ => return Err(format!("fsync must be on or off, not \"{word}\"")),
        },
        (None, Some(Switch::Bool(value))) => Some(value),
        (None, None) => None,
    };
    engine.fsync = fsync.unwrap_or(engine.fsync);
    let busy_poll = match flags.busy_poll.or(file.busy_poll) {
        None => BUSY_POLL,
        Some(time) => quantity(&time, &[("us", 1), ("ms", 1_000)])
            .filter(|micros| *micros <= 10_000)
            .map(Duration::from_micros)
            .ok_or_else(|| format!("busy_poll must be a time from 0us to 10ms, not \"{time}\""))?,
    };
    let log = flags.log.or(file.log).unwrap_or_else(|| "warn".into());
    if let Err(error) = tracing_subscriber::EnvFilter::try_new(&log) {
        return Err(format!("\"{log}\" is no log level: {error}"));
    }
    let listen = flags.listen.or(file.listen).unwrap_or_else(|| "127.0.0.1:5432".into());
    Ok(Config { listen, engine, busy_poll, log })
}

/// A number with its unit, as in PostgreSQL's settings. A unit is required.
fn quantity(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let text = text.trim();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let (_, factor) = units.iter().find(|(name, _)| *name == unit.trim_start())?;
    number.parse::<u64>().ok()?.checked_mul(*factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_come_before_the_file_and_the_file_before_the_defaults() {
        let flags = Flags::try_parse_from(["pgfusion", "--listen", "[::1]:0"]).expect("valid");
        let file = "listen = \"x:1\"\nmax_connections = 7\nfsync = false\ncheckpoint_size = \"2GB\"";
        let file = toml::from_str(file).expect("valid");
        let config = resolve(flags, file).expect("valid");
        assert_eq!((config.listen.as_str(), config.engine.max_connections), ("[::1]:0", 7));
        assert_eq!((config.engine.fsync, config.engine.checkpoint_bytes), (false, 2 << 30));
        assert_eq!(config.engine.data_dir, PathBuf::from("./pgfusion-data"));
    }

    #[test]
    fn unknown_or_impossible_settings_are_refused() {
        assert!(toml::from_str::<File>("lisen = \"x:1\"").is_err());
        let flags = || Flags::try_parse_from(["pgfusion"]).expect("valid");
        assert!(resolve(flags(), File { max_connections: Some(0), ..File::default() }).is_err());
        let size = |text: &str| File { checkpoint_size: Some(text.into()), ..File::default() };
        for wrong in ["64", "MB", "1kB", "99999999999999999999MB", "-1MB"] {
            assert!(resolve(flags(), size(wrong)).is_err(), "{wrong}");
        }
        assert!(resolve(flags(), File { log: Some("a=b=c".into()), ..File::default() }).is_err());
    }
}
