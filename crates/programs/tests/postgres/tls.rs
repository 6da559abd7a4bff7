//! Encrypted connections to a real server.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener};
use std::thread;

use diskproof_load::driver::postgres::PostgresDriver;
use diskproof_load::driver::{Driver, Fault, Protocol};
use diskproof_load::target::Target;

use crate::certificates::Certificates;
use crate::database::{Database, driver};
use crate::drive::{Client, ints, push_text, statement};
use crate::server::{Server, database_or_skip, give_to_server_user};

/// Only encrypted connections; each user has another way to log in.
const HBA: &str = "local all postgres trust\n\
                   hostssl all scram 127.0.0.1/32 scram-sha-256\n\
                   hostssl all md5 127.0.0.1/32 md5\n\
                   hostssl all clear 127.0.0.1/32 password\n";

const USERS: &str = "SET password_encryption = 'scram-sha-256';
    CREATE ROLE scram LOGIN PASSWORD 'geheim'; CREATE ROLE clear LOGIN PASSWORD 'geheim';
    SET password_encryption = 'md5'; CREATE ROLE md5 LOGIN PASSWORD 'geheim'";

/// A server with a certificate for `localhost`.
fn server(certificates: &Certificates) -> Option<Database> {
    give_to_server_user(certificates.directory());
    let file = |name| certificates.file(name).display().to_string();
    let settings = [
        "listen_addresses=127.0.0.1".to_owned(),
        "ssl=on".to_owned(),
        format!("ssl_cert_file={}", file("server.pem")),
        format!("ssl_key_file={}", file("server.key")),
    ];
    let database = Server::own(HBA, &settings.each_ref().map(String::as_str))?;
    database.psql(USERS);
    Some(database)
}

fn url(database: &Database, user: &str, host: &str, options: &str) -> String {
    let url = database.tcp_url(user).replace("127.0.0.1", host);
    format!("{url}?{options}")
}

/// Logs in, and gives the TLS version that the server saw on the session and on administration.
fn tls_version(url: &str) -> Result<String, Fault> {
    let driver = driver(url, Some("geheim"));
    let version = "SELECT version FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    let check = statement(&format!("SELECT 1/length(({version})), ?::int"));
    let session = driver.connect(&[check], Protocol::Prepared)?;
    assert_eq!(Client::new(session).run(0, &ints(&[1]))?.rows, 1);
    Ok(driver.admin()?.query_value(version)?.expect("a version"))
}

fn tls_fault(url: &str) -> String {
    match tls_version(url) {
        Err(Fault::Tls(message)) => message,
        other => panic!("{url}: {other:?}"),
    }
}

#[test]
fn every_method_and_every_check() {
    let certificates = Certificates::new();
    let database = database_or_skip!(server(&certificates));
    for user in ["scram", "md5", "clear"] {
        let url = url(&database, user, "127.0.0.1", "sslmode=require");
        assert_eq!(tls_version(&url).expect(user), "TLSv1.3");
    }
    let checked = |mode: &str, host: &str, authority: &str| {
        let file = certificates.file(authority).display().to_string();
        let options = format!("sslmode={mode}&sslrootcert={file}");
        url(&database, "scram", host, &options)
    };
    for (mode, host) in [
        ("verify-ca", "127.0.0.1"),
        ("verify-ca", "localhost"),
        ("verify-full", "localhost"),
    ] {
        tls_version(&checked(mode, host, "authority.pem")).expect(mode);
    }
    let elsewhere = tls_fault(&checked("verify-full", "127.0.0.1", "authority.pem"));
    assert!(elsewhere.contains("localhost"), "{elsewhere}");
    let stranger = tls_fault(&checked("verify-ca", "localhost", "stranger.pem"));
    assert!(stranger.contains("issued it"), "{stranger}");
}

#[test]
fn a_server_that_demands_encryption_is_answered_with_the_option() {
    let certificates = Certificates::new();
    let database = database_or_skip!(server(&certificates));
    for options in ["", "sslmode=disable"] {
        match tls_version(&url(&database, "scram", "127.0.0.1", options)) {
            Err(Fault::Server(error)) => {
                assert_eq!(error.code, "28000");
                assert!(error.message.contains("add sslmode=require"), "{error}");
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_server_without_a_certificate_is_told_so() {
    let hba = "local all all trust\nhost all all 127.0.0.1/32 trust\n";
    let database = database_or_skip!(Server::own(hba, &["listen_addresses=127.0.0.1"]));
    let message = tls_fault(&url(&database, "postgres", "127.0.0.1", "sslmode=require"));
    assert!(message.contains("ssl_cert_file"), "{message}");
}

/// Statements and replies that are longer than the buffers of the socket and of TLS.
#[test]
fn long_statements_and_replies() {
    let certificates = Certificates::new();
    let database = database_or_skip!(server(&certificates));
    let driver = driver(
        &url(&database, "scram", "127.0.0.1", "sslmode=require"),
        Some("geheim"),
    );
    let catalogue = [
        statement("SELECT repeat('x', 1000) FROM generate_series(1, ?)"),
        statement("SELECT 1/(length(?) - 2999999)"),
    ];
    let session = driver.connect(&catalogue, Protocol::Prepared);
    let mut client = Client::new(session.expect("a log-in"));
    let text = "x".repeat(3_000_000);
    for _ in 0..3 {
        assert_eq!(client.run(0, &ints(&[5000])).unwrap().rows, 5000);
        let long = push_text(ints(&[]), &text);
        assert_eq!(client.run(1, &long).unwrap().rows, 1);
    }
}

#[test]
fn options_that_mean_nothing_are_refused() {
    for (options, words) in [
        ("sslmode=prefer", "require, verify-ca, verify-full"),
        ("sslmode=verify-full", "needs sslrootcert=FILE"),
        ("sslrootcert=/x", "is read only with"),
        ("sslmode=verify-ca&sslrootcert=/gone", "/gone"),
        ("sslmode=require&host=/run/postgresql", "Unix socket"),
        ("port=5433", "HOST:PORT"),
        ("host=/x&port=0", "from 1 to 65535"),
    ] {
        let url = format!("postgresql://a@localhost/c?{options}");
        match Target::parse(&url, None).expect(&url) {
            Target::Postgres(server) => {
                let refusal = PostgresDriver::new(server).expect_err(options).to_string();
                assert!(refusal.contains(words), "{options}: {refusal}");
            }
            other => panic!("{url}: {other:?}"),
        }
    }
}

/// A man in the middle, or no PostgreSQL at all.
#[test]
fn nonsense_instead_of_encryption_is_refused() {
    for (answer, code) in [
        (&b"N"[..], "tls"),
        (b"Snothing that TLS would say", "tls"),
        (b"S\x15\x03\x01\x00\x02\x02\x28", "tls"),
        (b"E\0\0\0\x08FATA", "protocol"),
        (b"HTTP/1.1 400 Bad Request", "protocol"),
        (b"", "lost"),
        (b"S", "lost"),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a client");
            stream
                .read_exact(&mut [0; 8])
                .expect("a demand for encryption");
            stream.write_all(answer).expect("a client that listens");
            // The client may have seen enough and be gone by now.
            let _ = stream.shutdown(Shutdown::Write);
            let _ = stream.read_to_end(&mut Vec::new());
        });
        let url = format!("postgresql://me@127.0.0.1:{port}/db?sslmode=require");
        let fault = driver(&url, None).connect(&[], Protocol::Text).err();
        let fault = fault.expect("no connection");
        assert_eq!(fault.code(), code, "{answer:?}: {fault}");
        server.join().expect("a server");
    }
}
