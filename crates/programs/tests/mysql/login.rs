//! Every way to log in, on the servers that have it.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use diskproof_load::driver::mysql::MysqlDriver;
use diskproof_load::driver::{Driver, Fault, Protocol, Statement};
use diskproof_load::target::Target;
use rcgen::{CertificateParams, CertifiedIssuer, IsCa, KeyPair};

use crate::kind::Kind;
use crate::server::{Database, Server, database_or_skip};

const PASSWORD: &str = "g€heim mit Länge";

/// A session with a prepared catalogue, and administration, as one user.
fn log_in(url: &str, password: &str) -> Result<(), Fault> {
    let driver = match Target::parse(url, Some(password.to_owned())) {
        Ok(Target::Mysql(server)) => MysqlDriver::new(server).expect("a good URL"),
        other => panic!("{url}: {other:?}"),
    };
    // Some of these servers cannot prepare a BEGIN.
    let catalogue = ["SELECT ? + 1", "BEGIN", "SELECT 1"].map(Statement::prepared);
    driver.connect(&catalogue, Protocol::Prepared)?;
    let one = driver.admin()?.query_value("SELECT 1")?;
    assert_eq!(one.as_deref(), Some("1"));
    Ok(())
}

fn succeed(url: &str, password: &str) {
    if let Err(fault) = log_in(url, password) {
        panic!("{url}: {fault}");
    }
}

fn refusal(url: &str, password: &str) -> (String, String) {
    let fault = log_in(url, password).expect_err(url);
    (fault.code().to_owned(), fault.message())
}

/// Where an account is tried: over the socket and over TCP, with these options in the URL.
fn urls(database: &Database, user: &str, options: &str) -> [String; 2] {
    [
        format!("{}&{options}", database.socket_url(user)),
        format!("{}?{options}", database.tcp_url(user)),
    ]
}

fn create_user(database: &Database, user: &str, demand: &str) {
    let create = format!("CREATE USER {user} IDENTIFIED BY '{PASSWORD}' {demand}");
    database.sql(&format!("{create}; GRANT ALL ON *.* TO {user}"));
}

/// The right password is let in and a wrong one is not, encrypted and not.
fn try_every_way(database: &Database, user: &str) {
    for options in ["ssl-mode=disabled", "ssl-mode=required"] {
        for url in urls(database, user, options) {
            succeed(&url, PASSWORD);
            assert_eq!(refusal(&url, "wrong").0, "1045");
            assert_eq!(refusal(&url, "").0, "1045");
        }
    }
}

/// Writes an authority's and a server's certificate and key as PEM files.
fn certificates(directory: &Path) {
    let mut params = CertificateParams::new(Vec::new()).expect("parameters");
    params.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let key = KeyPair::generate().expect("a key");
    let authority = CertifiedIssuer::self_signed(params, key).expect("an authority");
    let key = KeyPair::generate().expect("a key");
    let names = vec!["127.0.0.1".to_owned()];
    let server = CertificateParams::new(names).expect("parameters");
    let server = server.signed_by(&key, &authority).expect("a certificate");
    let write = |name: &str, content: String| {
        fs::write(directory.join(name), content).expect("a writable directory");
    };
    write("authority.pem", authority.pem());
    write("server.pem", server.pem());
    write("key.pem", key.serialize_pem());
}

#[test]
fn mariadb() {
    let files = tempfile::tempdir().expect("a temporary directory");
    certificates(files.path());
    let file = |name: &str| files.path().join(name).display().to_string();
    let options = [
        format!("--ssl-cert={}", file("server.pem")),
        format!("--ssl-key={}", file("key.pem")),
    ];
    let server = database_or_skip!(Server::start(Kind::Mariadb, &options));
    let database = Database::on(Arc::new(server));
    create_user(&database, "native", "");
    create_user(&database, "demanding", "REQUIRE SSL");
    try_every_way(&database, "native");

    for url in urls(&database, "demanding", "ssl-mode=required") {
        succeed(&url, PASSWORD);
    }
    for url in urls(&database, "demanding", "ssl-mode=disabled") {
        let (code, message) = refusal(&url, PASSWORD);
        assert_eq!(code, "1045");
        assert!(message.contains("add ssl-mode=required"), "{message}");
    }

    let checked = |mode: &str, name: &str| format!("ssl-mode={mode}&ssl-ca={}", file(name));
    let [socket, tcp] = urls(
        &database,
        "native",
        &checked("verify-identity", "authority.pem"),
    );
    succeed(&tcp, PASSWORD);
    let (code, message) = refusal(&socket, PASSWORD);
    assert_eq!(code, "tls");
    assert!(message.contains("127.0.0.1"), "{message}");
    for url in urls(&database, "native", &checked("verify-ca", "authority.pem")) {
        succeed(&url, PASSWORD);
    }
    let others = tempfile::tempdir().expect("a temporary directory");
    certificates(others.path());
    fs::rename(others.path().join("authority.pem"), file("other.pem")).expect("a file");
    for url in urls(&database, "native", &checked("verify-ca", "other.pem")) {
        assert_eq!(refusal(&url, PASSWORD).0, "tls");
    }

    database.sql("SET GLOBAL require_secure_transport = ON");
    let (code, message) = refusal(&database.tcp_url("native"), PASSWORD);
    assert_eq!(code, "1045");
    assert!(message.contains("add ssl-mode=required"), "{message}");
}

#[test]
fn mariadb_ed25519() {
    let Some(plugins) = std::env::var_os("DISKPROOF_TEST_MARIADB_PLUGINS") else {
        eprintln!(
            "skipped: DISKPROOF_TEST_MARIADB_PLUGINS is not set; tests/servers/fetch.sh brings it"
        );
        return;
    };
    let options = [
        format!("--plugin-dir={}", Path::new(&plugins).display()),
        "--plugin-load-add=auth_ed25519".to_owned(),
    ];
    let server = database_or_skip!(Server::start(Kind::Mariadb, &options));
    let database = Database::on(Arc::new(server));
    // Each log-in has a scramble of its own: an error in one out of several would show.
    let create = format!("CREATE USER edward IDENTIFIED VIA ed25519 USING PASSWORD('{PASSWORD}')");
    database.sql(&format!("{create}; GRANT ALL ON *.* TO edward"));
    for _ in 0..20 {
        for url in urls(&database, "edward", "ssl-mode=disabled") {
            succeed(&url, PASSWORD);
            assert_eq!(refusal(&url, "wrong").0, "1045");
        }
    }
}

#[test]
fn mariadb_without_a_certificate() {
    let database = database_or_skip!(Database::shared());
    for url in urls(&database, "root", "ssl-mode=required") {
        let (code, message) = refusal(&url, "");
        assert_eq!(code, "tls");
        assert!(message.contains("offers no TLS"), "{message}");
    }
}

#[test]
fn mysql_9() {
    let server = database_or_skip!(Server::start(Kind::Mysql9, &[]));
    let database = Database::on(Arc::new(server));
    for (user, method) in [
        ("sha2", "caching_sha2_password"),
        ("sha256", "sha256_password"),
    ] {
        database.sql(&format!(
            "CREATE USER {user} IDENTIFIED WITH {method} BY '{PASSWORD}'; GRANT ALL ON *.* TO {user}"
        ));
    }
    for user in ["sha2", "sha256"] {
        let [socket, encrypted] = urls(&database, user, "ssl-mode=required");
        for url in [socket, encrypted] {
            // Nothing is cached: the password itself, by a way that nobody else hears.
            database.sql("FLUSH PRIVILEGES");
            succeed(&url, PASSWORD);
            // Now it is.
            succeed(&url, PASSWORD);
            assert_eq!(refusal(&url, "wrong").0, "1045");
        }
        let open = database.tcp_url(user);
        if user == "sha2" {
            succeed(&open, PASSWORD); // by the digest that the server has now
            database.sql("FLUSH PRIVILEGES");
        }
        let (_, message) = refusal(&open, PASSWORD);
        assert!(message.contains("ssl-mode=required"), "{message}");
    }
    database.sql("CREATE USER open IDENTIFIED BY ''; GRANT ALL ON *.* TO open");
    for url in urls(&database, "open", "ssl-mode=disabled") {
        succeed(&url, "");
    }
    database.sql("SET GLOBAL require_secure_transport = ON");
    let (code, message) = refusal(&database.tcp_url("open"), "");
    assert_eq!(code, "3159");
    assert!(message.contains("add ssl-mode=required"), "{message}");
}

#[test]
fn mysql_5_6() {
    let server = database_or_skip!(Server::start(Kind::Mysql56, &[]));
    let database = Database::on(Arc::new(server));
    // Anonymous accounts of this host come before named ones of any.
    database.sql("DELETE FROM mysql.user WHERE user = ''; FLUSH PRIVILEGES");
    database.sql(&format!(
        "CREATE USER native IDENTIFIED BY '{PASSWORD}'; GRANT ALL ON *.* TO native"
    ));
    for url in urls(&database, "native", "ssl-mode=disabled") {
        succeed(&url, PASSWORD);
        assert_eq!(refusal(&url, "wrong").0, "1045");
    }
    for url in urls(&database, "native", "ssl-mode=required") {
        assert_eq!(refusal(&url, PASSWORD).0, "tls");
    }
}
