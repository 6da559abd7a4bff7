//! Every way of logging in, on a real server.

use diskproof_load::driver::postgres::PostgresDriver;
use diskproof_load::driver::{Driver, Fault, Protocol};
use diskproof_load::target::Target;

use crate::database::driver;
use crate::drive::{Client, ints, statement};
use crate::server::{Server, database_or_skip, is_root};

const HBA: &str = "local all postgres trust\n\
                   local all root peer\n\
                   local all other peer\n\
                   local all all password\n\
                   host all scram 127.0.0.1/32 scram-sha-256\n\
                   host all md5 127.0.0.1/32 md5\n\
                   host all clear 127.0.0.1/32 password\n\
                   host all trusted 127.0.0.1/32 trust\n";

const USERS: &str = "SET password_encryption = 'scram-sha-256';
    CREATE ROLE scram LOGIN PASSWORD 'geheim ü'; CREATE ROLE clear LOGIN PASSWORD 'geheim ü';
    SET password_encryption = 'md5'; CREATE ROLE md5 LOGIN PASSWORD 'geheim ü';
    CREATE ROLE trusted LOGIN; CREATE ROLE root LOGIN; CREATE ROLE other LOGIN";

/// Logs in, runs a statement, and gives the user that the server saw.
fn whoami(url: &str, password: Option<&str>) -> Result<String, Fault> {
    let driver = driver(url, password);
    let session = driver.connect(&[statement("SELECT ?::int")], Protocol::Prepared)?;
    Client::new(session).run(0, &ints(&[1]))?;
    let user = driver.admin()?.query_value("SELECT session_user")?;
    Ok(user.expect("a user"))
}

fn refusal_code(url: &str, password: Option<&str>) -> String {
    match whoami(url, password) {
        Err(Fault::Server(error)) => error.code,
        other => panic!("{url}: {other:?}"),
    }
}

fn explanation(url: &str, password: Option<&str>) -> String {
    match whoami(url, password) {
        Err(Fault::Protocol(message)) => message,
        other => panic!("{url}: {other:?}"),
    }
}

#[test]
fn every_method_over_tcp_and_socket() {
    let database = database_or_skip!(Server::own(HBA, &["listen_addresses=127.0.0.1"]));
    database.psql(USERS);
    let right = Some("geheim ü");
    let wrong = Some("falsch");
    for user in ["scram", "md5"] {
        let url = database.tcp_url(user);
        assert_eq!(whoami(&url, right).unwrap(), user);
        assert_eq!(refusal_code(&url, wrong), "28P01");
        assert!(explanation(&url, None).contains("DISKPROOF_PASSWORD"));
    }
    assert_eq!(
        whoami(&database.tcp_url("trusted"), None).unwrap(),
        "trusted"
    );
    // In clear over a socket that nobody else can read, but never over the network.
    assert_eq!(
        whoami(&database.socket_url("clear"), right).unwrap(),
        "clear"
    );
    assert!(explanation(&database.tcp_url("clear"), right).contains("scram-sha-256"));
    assert_eq!(refusal_code(&database.tcp_url("nobody"), None), "28000");
    // The kernel's word for who we are: root, where the tests run as root, and never `other`.
    assert_eq!(refusal_code(&database.socket_url("other"), None), "28000");
    if is_root() {
        assert_eq!(whoami(&database.socket_url("root"), None).unwrap(), "root");
    }
    let elsewhere = database
        .socket_url("postgres")
        .replace("/postgres?", "/gone?");
    assert_eq!(refusal_code(&elsewhere, None), "3D000");
}

#[test]
fn an_unknown_parameter_of_the_url_is_refused() {
    for url in [
        "postgres://a@b/c?sslmod=off",
        "postgres://a@localhost/c?host=/x&port=many",
    ] {
        match Target::parse(url, None).expect(url) {
            Target::Postgres(server) => assert!(PostgresDriver::new(server).is_err(), "{url}"),
            other => panic!("{url}: {other:?}"),
        }
    }
}
