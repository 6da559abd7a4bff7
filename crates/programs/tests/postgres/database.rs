//! One database on a server, and the ways to it.

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::Arc;

use diskproof_load::driver::postgres::PostgresDriver;
use diskproof_load::target::Target;

use crate::server::{Server, program};

/// A database that is a test's own; the server may be others' too.
pub(crate) struct Database {
    server: Arc<Server>,
    name: String,
}

impl Database {
    pub(crate) fn new(server: Arc<Server>, name: &str) -> Self {
        Self {
            server,
            name: name.to_owned(),
        }
    }

    pub(crate) fn server(&self) -> &Server {
        &self.server
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Runs SQL through psql: an independent client to set up and to check with.
    pub(crate) fn psql(&self, sql: &str) -> String {
        let port = self.server.port().to_string();
        let mut child = Command::new(program("psql"))
            .args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-f", "-"])
            .args(["-U", "postgres", "-d", &self.name, "-p", &port, "-h"])
            .arg(self.server.directory())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("psql starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin.write_all(sql.as_bytes()).expect("psql reads");
        drop(stdin);
        let output = child.wait_with_output().expect("psql ends");
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{sql}: {complaint}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// A setting for the sessions to come.
    pub(crate) fn set(&self, setting: &str) {
        self.psql(&format!("ALTER DATABASE {} SET {setting}", self.name));
    }

    pub(crate) fn socket_url(&self, user: &str) -> String {
        format!(
            "postgresql://{user}@localhost/{}?host={}&port={}",
            self.name,
            self.server.directory().display(),
            self.server.port()
        )
    }

    pub(crate) fn tcp_url(&self, user: &str) -> String {
        let port = self.server.port();
        format!("postgresql://{user}@127.0.0.1:{port}/{}", self.name)
    }

    /// The driver over the socket.
    pub(crate) fn driver(&self) -> PostgresDriver {
        driver(&self.socket_url("postgres"), None)
    }
}

pub(crate) fn driver(url: &str, password: Option<&str>) -> PostgresDriver {
    match Target::parse(url, password.map(str::to_owned)).expect(url) {
        Target::Postgres(server) => PostgresDriver::new(server).expect(url),
        other => panic!("{url}: {other:?}"),
    }
}
