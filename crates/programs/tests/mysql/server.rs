//! A server of the tests' own: in a temporary directory, gone when the last test that uses it
//! is over.

use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::golden;
use crate::kind::{Kind, base_command};

pub(crate) struct Server {
    directory: TempDir,
    process: Child,
    port: u16,
}

/// Unwraps a database, or ends the test with a plain reason where no server can be started.
macro_rules! database_or_skip {
    ($started:expr) => {
        match $started {
            Some(database) => database,
            None => return,
        }
    };
}
pub(crate) use database_or_skip;

/// A database that is a test's own; the server may be others' too.
pub(crate) struct Database {
    pub(crate) server: Arc<Server>,
    pub(crate) name: String,
}

/// The server that tests share while they run at the same time.
static SHARED: Mutex<Weak<Server>> = Mutex::new(Weak::new());

/// Databases made so far, to name the next one.
static DATABASES: AtomicUsize = AtomicUsize::new(0);

impl Database {
    /// A new database on the shared server; `None`, with the reason printed, without MariaDB.
    pub(crate) fn shared() -> Option<Self> {
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        let server = match shared.upgrade() {
            Some(server) => server,
            None => Arc::new(Server::start(Kind::Mariadb, &[])?),
        };
        *shared = Arc::downgrade(&server);
        drop(shared);
        Some(Self::on(server))
    }

    /// A new database on a server of its own, to be killed.
    pub(crate) fn own() -> Option<Self> {
        Some(Self::on(Arc::new(Server::start(Kind::Mariadb, &[])?)))
    }

    pub(crate) fn on(server: Arc<Server>) -> Self {
        let name = format!("test{}", DATABASES.fetch_add(1, Ordering::Relaxed));
        server.sql("", &format!("CREATE DATABASE {name}"));
        Self { server, name }
    }

    /// Runs SQL through the server's own client: an independent eye.
    pub(crate) fn sql(&self, sql: &str) -> String {
        self.server.sql(&self.name, sql)
    }

    pub(crate) fn socket_url(&self, user: &str) -> String {
        let socket = self.server.socket();
        format!(
            "mysql://{user}@localhost/{}?socket={}",
            self.name,
            socket.display()
        )
    }

    pub(crate) fn tcp_url(&self, user: &str) -> String {
        format!(
            "mysql://{user}@127.0.0.1:{}/{}",
            self.server.port, self.name
        )
    }
}

impl Server {
    /// Starts a server; `None`, with the reason printed, where there is none of the kind.
    pub(crate) fn start(kind: Kind, options: &[String]) -> Option<Self> {
        let program = kind.program()?;
        let directory = tempfile::tempdir().expect("a temporary directory");
        let data = directory.path().join("data");
        golden::lay(&format!("{kind:?}"), &program, &data, || {
            kind.initialise(&program, &data);
        });
        let port = free_port();
        let log = fs::File::create(directory.path().join("log")).expect("a log file");
        let socket = directory.path().join("socket");
        let process = base_command(&program, &data)
            .arg(format!("--socket={}", socket.display()))
            .arg(format!("--port={port}"))
            .args(kind.options(&program))
            .args(options)
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("the server starts");
        let server = Self {
            directory,
            process,
            port,
        };
        server.wait_until_ready();
        Some(server)
    }

    fn wait_until_ready(&self) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !self
            .client("", "SELECT 1")
            .output()
            .is_ok_and(|output| output.status.success())
        {
            assert!(Instant::now() < deadline, "not ready:\n{}", self.log());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn sql(&self, database: &str, sql: &str) -> String {
        let output = self.client(database, sql).output().expect("mariadb starts");
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{sql}: {complaint}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    fn client(&self, database: &str, sql: &str) -> Command {
        let mut command = Command::new("mariadb");
        command
            .args(["--no-defaults", "-N", "-B", "-uroot", "-e", sql])
            .arg(format!("--socket={}", self.socket().display()));
        if !database.is_empty() {
            command.arg(database);
        }
        command
    }

    pub(crate) fn kill(&self) {
        let pid = self.process.id().to_string();
        let killed = Command::new("kill").args(["-s", "KILL", &pid]).status();
        assert!(
            killed.is_ok_and(|status| status.success()),
            "the server was not there to be killed"
        );
    }

    fn socket(&self) -> PathBuf {
        self.directory.path().join("socket")
    }

    fn log(&self) -> String {
        fs::read_to_string(self.directory.path().join("log")).unwrap_or_default()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Nothing of it is kept, so nothing has to be shut down in order.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("its address").port()
}
