//! Servers under test: pgfusion as built, or a private PostgreSQL 15.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::Client;

/// How long a server may take to start.
const START_LIMIT: Duration = Duration::from_secs(30);

/// Which server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// The binary `pgfusion`: `$PGFUSION_BIN`, or the one in the target directory that holds the running test.
    Ours,
    /// PostgreSQL 15.
    Postgres,
}

impl Target {
    /// What `PGFUSION_TEST_TARGET` says; ours if it says nothing.
    pub fn from_env() -> Target {
        match std::env::var("PGFUSION_TEST_TARGET").as_deref() {
            Ok("postgres") => Target::Postgres,
            Ok("ours") | Err(_) => Target::Ours,
            Ok(other) => panic!("PGFUSION_TEST_TARGET is ours or postgres, not {other:?}"),
        }
    }
}

/// A server on a port and a data directory of its own. Dropping it kills it and removes the directory.
pub struct Server {
    target: Target,
    port: u16,
    child: Option<Child>,
    folder: Option<TempDir>,
    databases: AtomicU32,
}

impl Server {
    /// A server of its own for this test.
    pub fn start(target: Target) -> Server {
        match target {
            Target::Ours => Server::ours(),
            Target::Postgres => Server::postgres(),
        }
    }

    /// The server that `PGFUSION_TEST_TARGET` names.
    pub fn from_env() -> Server {
        Server::start(Target::from_env())
    }

    /// As [`Server::from_env`], but takes the PostgreSQL at port `$PGFUSION_TEST_PG`, which other tests use as well, if there
    /// is one. For tests that keep to databases made by [`Server::database`].
    pub fn shared() -> Server {
        match (Target::from_env(), std::env::var("PGFUSION_TEST_PG")) {
            (Target::Postgres, Ok(port)) => Server {
                target: Target::Postgres,
                port: port.parse().expect("PGFUSION_TEST_PG is a port"),
                child: None,
                folder: None,
                databases: AtomicU32::new(0),
            },
            (target, _) => Server::start(target),
        }
    }

    /// pgfusion on an empty data directory.
    pub fn ours() -> Server {
        Server::spawn(Target::Ours, tempfile::Builder::new().prefix("pgfusion-test-").tempdir().unwrap())
    }

    /// A private PostgreSQL 15: UTF8, C collation, trust, superuser postgres, UTC.
    pub fn postgres() -> Server {
        let folder = tempfile::Builder::new().prefix("pgfusion-test-pg-").tempdir().unwrap();
        let template = postgres_template();
        run(Command::new("cp").arg("-a").arg(template).arg(folder.path().join("data")));
        if is_root() {
            run(Command::new("chown").arg("postgres").arg(folder.path()));
        }
        Server::spawn(Target::Postgres, folder)
    }

    fn spawn(target: Target, folder: TempDir) -> Server {
        let databases = AtomicU32::new(0);
        let mut server = Server { target, port: 0, child: None, folder: Some(folder), databases };
        server.launch();
        server
    }

    /// Which server it is.
    pub fn target(&self) -> Target {
        self.target
    }

    /// The port it listens on, on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The process id of a server that this process started.
    pub fn pid(&self) -> u32 {
        self.child.as_ref().expect("a server of our own").id()
    }

    /// The connection string for libpq, tokio-postgres and other clients.
    pub fn url(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}", self.port)
    }

    /// Makes an empty database with a name that no other test uses and returns the name.
    pub fn database(&self) -> String {
        let number = self.databases.fetch_add(1, Ordering::Relaxed);
        let name = format!("test_{}_{number}", std::process::id());
        let mut client = Client::connect(self, "postgres").unwrap();
        let made = client.simple(&format!("create database {name}")).unwrap();
        assert!(made.error.is_none(), "create database: {:?}", made.error);
        name
    }

    /// A client program (`psql`, `pgbench`, `sysbench`, ...) with the environment that leads it to this server.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .env("PGHOST", "127.0.0.1")
            .env("PGPORT", self.port.to_string())
            .env("PGUSER", "postgres")
            .env("PGDATABASE", "postgres")
            .env("PGTZ", "UTC")
            .env("PGCONNECT_TIMEOUT", "10")
            .env("PSQLRC", "/dev/null")
            .env("LC_ALL", "C.UTF-8");
        command
    }

    /// Kills it with no chance to clean up. For PostgreSQL, whose other processes would linger, an immediate shutdown.
    pub fn kill(&mut self) {
        let signal = if self.target == Target::Ours { "KILL" } else { "QUIT" };
        self.signal(signal);
        self.wait();
    }

    /// Asks it to stop and waits until it has. Returns whether it exited with status 0.
    pub fn stop(&mut self) -> bool {
        self.signal(if self.target == Target::Ours { "TERM" } else { "INT" });
        self.wait()
    }

    /// Starts it again on the same data directory; the port may change.
    pub fn restart(&mut self) {
        assert!(self.child.is_none(), "still running");
        self.launch();
    }

    /// Sends it a signal.
    pub fn signal(&self, name: &str) {
        run(Command::new("kill").arg(format!("-{name}")).arg(self.pid().to_string()));
    }

    /// The end of its log, to show with a failure.
    pub fn log(&self) -> String {
        let Some(folder) = &self.folder else { return String::new() };
        let text = std::fs::read(folder.path().join("log")).unwrap_or_default();
        String::from_utf8_lossy(&text[text.len().saturating_sub(4000)..]).into_owned()
    }

    /// Waits until it has ended. Returns whether it exited with status 0.
    pub fn wait(&mut self) -> bool {
        self.child.take().is_some_and(|mut child| child.wait().unwrap().success())
    }

    /// Its data directory.
    pub fn data_folder(&self) -> PathBuf {
        self.folder().join("data")
    }

    /// The command that started it, but for the standard streams.
    pub fn same_command(&self) -> Command {
        self.our_command()
    }

    fn folder(&self) -> &Path {
        self.folder.as_ref().expect("a server of our own").path()
    }

    fn launch(&mut self) {
        let log = File::options().create(true).append(true).open(self.folder().join("log")).unwrap();
        let mut command = match self.target {
            Target::Ours => self.our_command(),
            Target::Postgres => self.postgres_command(),
        };
        let mut child =
            command.stdin(Stdio::null()).stderr(log).spawn().unwrap_or_else(|e| panic!("{command:?}: {e}"));
        if self.target == Target::Ours {
            self.port = ready_port(&mut child).unwrap_or_else(|| {
                let _ = child.kill();
                let _ = child.wait();
                panic!("pgfusion did not say that it is ready; its log:\n{}", self.log())
            });
            self.child = Some(child);
        } else {
            self.child = Some(child);
            self.wait_until_postgres_answers();
        }
    }

    fn our_command(&self) -> Command {
        let mut command = Command::new(our_binary());
        command.args(["--listen", "127.0.0.1:0", "--data-dir"]).arg(self.folder().join("data"));
        command.stdout(Stdio::piped()).env("TZ", "UTC");
        command
    }

    fn postgres_command(&mut self) -> Command {
        self.port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = as_postgres(postgres_bin().join("postgres"));
        command.arg("-D").arg(self.folder().join("data"));
        command.args(["-p", &self.port.to_string(), "-k"]).arg(self.folder());
        for setting in [
            "listen_addresses=127.0.0.1",
            "timezone=UTC",
            "log_timezone=UTC",
            "fsync=off",
            "max_connections=200",
        ] {
            command.args(["-c", setting]);
        }
        command.stdout(Stdio::null());
        command
    }

    fn wait_until_postgres_answers(&mut self) {
        let start = Instant::now();
        loop {
            if TcpStream::connect(("127.0.0.1", self.port)).is_ok()
                && Client::connect(self, "postgres").is_ok()
            {
                return;
            }
            assert!(start.elapsed() < START_LIMIT, "PostgreSQL did not start; its log:\n{}", self.log());
            if self.child.as_mut().is_some_and(|c| c.try_wait().unwrap().is_some()) {
                panic!("PostgreSQL ended; its log:\n{}", self.log());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.child.is_some() {
            self.kill();
        }
    }
}

/// The port in the line `pgfusion ready on HOST:PORT, data in DIR`; a thread goes on emptying the pipe.
fn ready_port(child: &mut Child) -> Option<u16> {
    let mut output = BufReader::new(child.stdout.take()?);
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        while output.read_line(&mut line).is_ok_and(|n| n > 0) {
            let address = line.strip_prefix("pgfusion ready on ").and_then(|rest| rest.split(',').next());
            if let Some(port) = address.and_then(|a| a.trim().rsplit(':').next()?.parse().ok()) {
                let _ = sender.send(port);
            }
            line.clear();
        }
    });
    receiver.recv_timeout(START_LIMIT).ok()
}

fn our_binary() -> PathBuf {
    if let Some(path) = std::env::var_os("PGFUSION_BIN") {
        return path.into();
    }
    let test = std::env::current_exe().unwrap();
    let folders = test.ancestors().skip(1);
    let mut candidates = folders.map(|f| f.join("pgfusion"));
    let found = candidates.find(|p| p.is_file());
    found.expect("pgfusion is not built: cargo build -p server, or set PGFUSION_BIN")
}

fn postgres_bin() -> PathBuf {
    let debian = PathBuf::from("/usr/lib/postgresql/15/bin");
    if debian.is_dir() {
        return debian;
    }
    let output = Command::new("pg_config").arg("--bindir").output().expect("PostgreSQL 15 is not installed");
    PathBuf::from(String::from_utf8_lossy(&output.stdout).trim())
}

/// A data directory fresh from initdb, made once per user and machine.
fn postgres_template() -> PathBuf {
    let base =
        std::env::temp_dir().join(format!("pgfusion-pg15-{}", if is_root() { "root" } else { "user" }));
    std::fs::create_dir_all(&base).unwrap();
    let lock = File::create(base.join("lock")).unwrap();
    lock.lock().unwrap();
    let template = base.join("template");
    if !template.join("PG_VERSION").exists() {
        let _ = std::fs::remove_dir_all(base.join("new"));
        std::fs::create_dir_all(base.join("new")).unwrap();
        if is_root() {
            run(Command::new("chown").arg("-R").arg("postgres").arg(&base));
        }
        let mut initdb = as_postgres(postgres_bin().join("initdb"));
        run(initdb
            .args(["-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "--no-sync", "-D"])
            .arg(base.join("new")));
        std::fs::rename(base.join("new"), &template).unwrap();
    }
    template
}

fn as_postgres(program: PathBuf) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--init-groups", "--"]).arg(program);
    command.current_dir("/");
    command
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").is_ok_and(|m| m.uid() == 0)
}

fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}
