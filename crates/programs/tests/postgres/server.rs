//! A PostgreSQL of the tests' own: in a temporary directory, gone when the last test that uses
//! it is over.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::database::Database;
use crate::golden;

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

/// The server that tests share while they run at the same time.
static SHARED: Mutex<Weak<Server>> = Mutex::new(Weak::new());

/// Databases made on shared servers so far, to name the next one.
static DATABASES: AtomicUsize = AtomicUsize::new(0);

impl Server {
    /// A new database on the shared server: on a socket alone, trusting every local user.
    pub(crate) fn database() -> Option<Database> {
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        let server = match shared.upgrade() {
            Some(server) => server,
            None => Arc::new(Self::start("local all all trust\n", &[])?),
        };
        *shared = Arc::downgrade(&server);
        drop(shared);
        let name = format!("test{}", DATABASES.fetch_add(1, Ordering::Relaxed));
        let first = Database::new(Arc::clone(&server), "postgres");
        first.psql(&format!("CREATE DATABASE {name}"));
        Some(Database::new(server, &name))
    }

    /// The first database of a server of one's own, with these lines of `pg_hba.conf` and these
    /// settings.
    pub(crate) fn own(hba: &str, settings: &[&str]) -> Option<Database> {
        let server = Arc::new(Self::start(hba, settings)?);
        Some(Database::new(server, "postgres"))
    }

    /// `None`, with the reason printed, where PostgreSQL is not installed.
    fn start(hba: &str, settings: &[&str]) -> Option<Self> {
        let Some(programs) = programs() else {
            eprintln!("skipped: no PostgreSQL under /usr/lib/postgresql (apt install postgresql)");
            return None;
        };
        let directory = tempfile::tempdir().expect("a temporary directory");
        give_to_server_user(directory.path());
        let data = directory.path().join("data");
        let initdb = programs.join("initdb");
        golden::lay("PostgreSQL", &initdb, &data, || {
            let initialised = as_server_user(&initdb)
                .args(["-A", "trust", "-U", "postgres", "--no-sync", "-E", "UTF8"])
                .args(["--locale=C", "-D"])
                .arg(&data)
                .stdout(Stdio::null())
                .status()
                .expect("initdb starts");
            assert!(initialised.success(), "initdb failed");
        });
        fs::write(data.join("pg_hba.conf"), hba).expect("pg_hba.conf is written");

        let port = free_port();
        let mut command = as_server_user(&programs.join("postgres"));
        command.arg("-D").arg(&data).arg("-k").arg(directory.path());
        command.args(["-p", &port.to_string()]);
        for setting in ["listen_addresses=", "fsync=off", "shared_buffers=32MB"]
            .iter()
            .chain(settings)
        {
            command.args(["-c", setting]);
        }
        let log = fs::File::create(directory.path().join("log")).expect("a log file");
        let process = command.stderr(log).spawn().expect("postgres starts");
        let server = Self {
            directory,
            process,
            port,
        };
        server.wait_until_ready();
        Some(server)
    }

    fn wait_until_ready(&self) {
        let deadline = Instant::now() + Duration::from_secs(20);
        while !self.accepts() {
            assert!(Instant::now() < deadline, "not ready:\n{}", self.log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn accepts(&self) -> bool {
        let asked = Command::new(program("pg_isready"))
            .args(["-q", "-p", &self.port.to_string(), "-h"])
            .arg(self.directory())
            .status();
        asked.expect("pg_isready starts").success()
    }

    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.directory().join("log")).unwrap_or_default()
    }

    /// Where its socket is.
    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Asks for a fast shutdown: every session is told, then closed.
    pub(crate) fn shut_down(&self) {
        self.signal("INT");
        let deadline = Instant::now() + Duration::from_secs(20);
        while self.accepts() || self.directory().join("data/postmaster.pid").exists() {
            assert!(Instant::now() < deadline, "still up:\n{}", self.log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Kills the postmaster without a word. Its sessions end when they next wait for a statement.
    pub(crate) fn kill(&self) {
        self.signal("KILL");
    }

    fn signal(&self, name: &str) {
        let pid = self.process.id().to_string();
        let _ = Command::new("kill").args(["-s", name, &pid]).status();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Ok(None) = self.process.try_wait() {
            self.signal("INT");
            let _ = self.process.wait();
        }
    }
}

/// A program of the newest installed PostgreSQL.
pub(crate) fn program(name: &str) -> PathBuf {
    programs().expect("found before").join(name)
}

/// The newest installed PostgreSQL's programs.
fn programs() -> Option<PathBuf> {
    let mut found: Vec<_> = fs::read_dir("/usr/lib/postgresql")
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path().join("bin")))
        .filter(|bin| bin.join("initdb").exists() && bin.join("postgres").exists())
        .collect();
    found.sort();
    found.pop()
}

/// PostgreSQL refuses to run as root. `setpriv` replaces itself by the program, so that its
/// process id is the server's.
fn as_server_user(program: &Path) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command
        .args(["--reuid=postgres", "--regid=postgres", "--clear-groups"])
        .arg(program)
        .current_dir("/");
    command
}

/// Lets the server read and write a directory and the files in it.
pub(crate) fn give_to_server_user(directory: &Path) {
    fs::set_permissions(directory, fs::Permissions::from_mode(0o755)).expect("permissions");
    if is_root() {
        let given = Command::new("chown")
            .args(["-R", "postgres"])
            .arg(directory)
            .status();
        assert!(given.expect("chown starts").success(), "chown failed");
    }
}

pub(crate) fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("its address").port()
}
