//! Configuration: flag, environment variable, file, default, in this order of precedence.

use clap::Parser;
use serde::Deserialize;
use std::path::PathBuf;

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
    log: Option<String>,
}

/// The settings in force.
#[derive(Debug)]
pub(crate) struct Config {
    /// `HOST:PORT`
    pub(crate) listen: String,
    /// Directory of the data.
    pub(crate) data_dir: PathBuf,
    /// Most sessions at once.
    pub(crate) max_connections: u32,
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
    let config = Config {
        listen: flags.listen.or(file.listen).unwrap_or_else(|| "127.0.0.1:5432".into()),
        data_dir: flags.data_dir.or(file.data_dir).unwrap_or_else(|| "./pgfusion-data".into()),
        max_connections: flags.max_connections.or(file.max_connections).unwrap_or(200),
        log: flags.log.or(file.log).unwrap_or_else(|| "warn".into()),
    };
    if !(1..=100_000).contains(&config.max_connections) {
        return Err(format!("max_connections must be from 1 to 100000, not {}", config.max_connections));
    }
    if let Err(error) = tracing_subscriber::EnvFilter::try_new(&config.log) {
        return Err(format!("\"{}\" is no log level: {error}", config.log));
    }
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_come_before_the_file_and_the_file_before_the_defaults() {
        let flags = Flags::try_parse_from(["pgfusion", "--listen", "[::1]:0"]).expect("valid");
        let file = toml::from_str("listen = \"x:1\"\nmax_connections = 7").expect("valid");
        let config = resolve(flags, file).expect("valid");
        assert_eq!((config.listen.as_str(), config.max_connections), ("[::1]:0", 7));
        assert_eq!(config.data_dir, PathBuf::from("./pgfusion-data"));
    }

    #[test]
    fn unknown_or_impossible_settings_are_refused() {
        assert!(toml::from_str::<File>("lisen = \"x:1\"").is_err());
        let flags = || Flags::try_parse_from(["pgfusion"]).expect("valid");
        assert!(resolve(flags(), File { max_connections: Some(0), ..File::default() }).is_err());
        assert!(resolve(flags(), File { log: Some("a=b=c".into()), ..File::default() }).is_err());
    }
}
