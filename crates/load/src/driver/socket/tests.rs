//! Encrypted streams against a TLS server at the other end of a socket pair.

use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rcgen::{CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustix::event::{PollFd, PollFlags, poll};
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, SupportedProtocolVersion};
use tempfile::TempDir;

use super::Vocabulary;
use super::stream::Stream;
use super::tls::{Tls, TlsFailure};
use crate::target::{Server, Target};

/// Longer than any buffer on the way, so that each side has to wait for the other.
const LONG: usize = 3 << 20;

/// A server's certificate for `db.example`, and the file of the authority that issued it.
struct Certificates {
    directory: TempDir,
    server: CertificateDer<'static>,
    key: KeyPair,
}

impl Certificates {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let key = KeyPair::generate().unwrap();
        let server = CertificateParams::new(vec!["db.example".to_owned()]).unwrap();
        let server = server.signed_by(&key, &authority).unwrap();
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("authority.pem"), authority.pem()).unwrap();
        fs::write(directory.path().join("server.pem"), server.pem()).unwrap();
        Self {
            directory,
            server: server.der().clone(),
            key,
        }
    }

    fn serve(&self, version: &'static SupportedProtocolVersion) -> ServerConnection {
        let key = PrivatePkcs8KeyDer::from(self.key.serialize_der()).into();
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(&[version])
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![self.server.clone()], key)
            .unwrap();
        ServerConnection::new(Arc::new(config)).unwrap()
    }

    fn file(&self, name: &str) -> String {
        self.directory.path().join(name).display().to_string()
    }
}

/// What a URL with these options makes of it.
fn tls(host: &str, options: &str) -> Tls {
    Tls::from_options(&server(host, options), &Vocabulary::MYSQL)
        .unwrap()
        .expect("encryption is asked for")
}

fn server(host: &str, options: &str) -> Server {
    match Target::parse(&format!("mysql://a@{host}/c?{options}"), None) {
        Ok(Target::Mysql(server)) => server,
        other => panic!("{options}: {other:?}"),
    }
}

/// A pair of which our end never blocks.
fn pair() -> (Stream, UnixStream) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    ours.set_nonblocking(true).unwrap();
    (Stream::unix(mio::net::UnixStream::from_std(ours)), theirs)
}

/// Waits as an event loop with edges does: for reading, and for writing only where it is wanted.
fn wait(stream: &Stream, writing: bool) {
    let mut flags = PollFlags::IN;
    flags.set(PollFlags::OUT, writing || stream.wants_write());
    poll(&mut [PollFd::new(stream, flags)], None).unwrap();
}

/// Writes all and reads as much back.
fn exchange(stream: &mut Stream, sent: &[u8]) -> io::Result<Vec<u8>> {
    let (mut written, mut received) = (0, Vec::new());
    let mut buffer = vec![0; 10_000];
    while received.len() < sent.len() {
        while written < sent.len() {
            match stream.write(&sent[written..]) {
                Ok(taken) => written += taken,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        loop {
            match stream.read(&mut buffer) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(read) => received.extend_from_slice(&buffer[..read]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        if received.len() < sent.len() {
            wait(stream, written < sent.len());
        }
    }
    Ok(received)
}

/// Sends back what comes, until the client leaves.
fn echo(mut server: ServerConnection, mut socket: UnixStream) -> io::Result<()> {
    let mut stream = rustls::Stream::new(&mut server, &mut socket);
    let mut buffer = vec![0; 100_000];
    loop {
        match stream.read(&mut buffer)? {
            0 => return Ok(()),
            read => stream.write_all(&buffer[..read])?,
        }
    }
}

fn pattern(length: usize) -> Vec<u8> {
    (0..length)
        .map(|at| u8::try_from(at % 251).unwrap())
        .collect()
}

#[test]
fn what_is_written_comes_back() {
    let certificates = Certificates::new();
    for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
        let (mut stream, theirs) = pair();
        let server = certificates.serve(version);
        let echo = thread::spawn(move || echo(server, theirs));
        stream
            .encrypt(&tls("db.example", "ssl-mode=required"))
            .unwrap();
        for length in [1, 100, LONG, 7] {
            let sent = pattern(length);
            assert!(
                exchange(&mut stream, &sent).unwrap() == sent,
                "{version:?} {length}"
            );
            assert!(!stream.wants_write());
        }
        drop(stream);
        // We left without a word of TLS.
        let left = echo.join().unwrap().unwrap_err();
        assert_eq!(left.kind(), ErrorKind::UnexpectedEof);
    }
}

/// Shakes hands with a server whose certificate is for `db.example`.
fn shake_hands(certificates: &Certificates, host: &str, options: &str) -> Result<(), String> {
    let (mut stream, theirs) = pair();
    let server = certificates.serve(&rustls::version::TLS13);
    let echo = thread::spawn(move || echo(server, theirs));
    stream.encrypt(&tls(host, options)).unwrap();
    let outcome = exchange(&mut stream, b"hello").map(|_| ());
    drop(stream);
    let _ = echo.join().unwrap();
    outcome.map_err(|error| error.downcast::<TlsFailure>().unwrap().to_string())
}

#[test]
fn certificates_are_checked_as_far_as_the_url_says() {
    let certificates = Certificates::new();
    let (other, authority) = (Certificates::new(), certificates.file("authority.pem"));
    let trusting = |file: &str, mode: &str| format!("ssl-mode={mode}&ssl-ca={file}");
    let try_it = |host, options: &str| shake_hands(&certificates, host, options);

    assert_eq!(try_it("elsewhere.example", "ssl-mode=required"), Ok(()));
    assert_eq!(
        try_it("elsewhere.example", &trusting(&authority, "verify-ca")),
        Ok(())
    );
    assert_eq!(
        try_it("db.example", &trusting(&authority, "verify-identity")),
        Ok(())
    );
    // The server's own certificate in place of an authority's.
    let own = certificates.file("server.pem");
    assert_eq!(
        try_it("db.example", &trusting(&own, "verify-identity")),
        Ok(())
    );

    let foreign = other.file("authority.pem");
    for mode in ["verify-ca", "verify-identity"] {
        let refusal = try_it("db.example", &trusting(&foreign, mode)).unwrap_err();
        assert!(refusal.contains("issued it"), "{refusal}");
    }
    for file in [&authority, &own] {
        let options = trusting(file, "verify-identity");
        let refusal = try_it("elsewhere.example", &options).unwrap_err();
        assert!(refusal.contains("URL's host"), "{refusal}");
        assert!(refusal.contains("db.example"), "{refusal}");
    }
}

#[test]
fn files_without_certificates_are_refused_before_anything_is_started() {
    let certificates = Certificates::new();
    let refusal = |file: &str| {
        let options = format!("ssl-mode=verify-ca&ssl-ca={file}");
        let refusal = Tls::from_options(&server("x", &options), &Vocabulary::MYSQL);
        refusal.unwrap_err().to_string()
    };
    assert!(refusal("/nowhere.pem").contains("ssl-ca=/nowhere.pem holds no readable certificate"));
    let path = certificates.directory.path().join("odd.pem");
    for content in [
        &b""[..],
        b"not a certificate",
        b"-----BEGIN CERTIFICATE-----\n!!\n-----END CERTIFICATE-----\n",
        b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
    ] {
        fs::write(&path, content).unwrap();
        let refusal = refusal(&path.display().to_string());
        assert!(
            refusal.contains("holds no readable certificate"),
            "{refusal}"
        );
    }
}

#[test]
fn a_peer_that_speaks_no_tls() {
    for answer in [
        &b"HTTP/1.1 400 Bad Request\r\n\r\n"[..],
        b"\x15\x03\x01\0\x02\x02\x46",
        &[0xFF; 100],
    ] {
        let (mut stream, mut theirs) = pair();
        stream
            .encrypt(&tls("db.example", "ssl-mode=required"))
            .unwrap();
        theirs.write_all(answer).unwrap();
        let error = exchange(&mut stream, b"hello").unwrap_err();
        assert!(error.downcast::<TlsFailure>().is_ok(), "{answer:?}");
    }
    let (mut stream, theirs) = pair();
    stream
        .encrypt(&tls("db.example", "ssl-mode=required"))
        .unwrap();
    drop(theirs);
    assert!(exchange(&mut stream, b"hello").is_err(), "it went away");
}

/// How often this thread has gone to sleep.
fn sleeps() -> u64 {
    let status = fs::read_to_string("/proc/thread-self/status").unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    line.unwrap().trim().parse().unwrap()
}

#[test]
fn who_waits_for_a_reply_is_not_woken_when_the_request_is_read() {
    const REQUESTS: u64 = 20;
    let (mut stream, mut theirs) = pair();
    assert!(stream.block(Duration::from_secs(10)).unwrap());
    let server = thread::spawn(move || {
        let pause = || thread::sleep(Duration::from_millis(3));
        for _ in 0..REQUESTS {
            pause();
            theirs.read_exact(&mut [0]).unwrap();
            pause();
            theirs.write_all(b"x").unwrap();
        }
    });
    let before = sleeps();
    for _ in 0..REQUESTS {
        stream.write(b"x").unwrap();
        assert_eq!(stream.read(&mut [0; 9]).unwrap(), 1);
    }
    let sleeps = sleeps() - before;
    assert!(sleeps < REQUESTS * 3 / 2, "{sleeps} for {REQUESTS}");
    server.join().unwrap();
}

#[test]
fn who_waits_for_a_reply_goes_on_with_a_request_that_did_not_fit() {
    let longest = Duration::from_secs(60);
    let (mut stream, mut theirs) = pair();
    assert!(stream.block(longest).unwrap());
    let echo = thread::spawn(move || {
        let mut request = vec![0; LONG];
        theirs.read_exact(&mut request).unwrap();
        theirs.write_all(&request).unwrap();
    });
    let (sent, began) = (pattern(LONG), Instant::now());
    let (mut written, mut received, mut buffer) = (0, Vec::new(), vec![0; 100_000]);
    let done = |outcome: io::Result<usize>| match outcome {
        Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
        outcome => outcome.unwrap(),
    };
    while received.len() < sent.len() {
        if written < sent.len() {
            written += done(stream.write(&sent[written..]));
        }
        let read = done(stream.read(&mut buffer));
        received.extend_from_slice(&buffer[..read]);
    }
    assert!(received == sent);
    assert!(began.elapsed() < longest);
    echo.join().unwrap();
}

#[test]
fn what_has_begun_to_come_may_pause_only_so_long_and_what_has_not_may_take_its_time() {
    const PAUSE: Duration = Duration::from_millis(80);
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    ours.set_nonblocking(true).unwrap();
    let mut stream = Stream::unix(mio::net::UnixStream::from_std(ours));
    stream.limit_pauses(PAUSE);
    let silent = stream.read(&mut [0]).unwrap_err();
    assert_eq!(silent.kind(), ErrorKind::WouldBlock);
    assert_eq!(stream.reading_ends(), None);
    theirs.write_all(b"xyz").unwrap();
    assert_eq!(stream.read(&mut [0]).unwrap(), 1);
    let first = stream.reading_ends().unwrap();
    assert_eq!(stream.read(&mut [0]).unwrap(), 1);
    assert!(stream.reading_ends().unwrap() >= first);
    thread::sleep(2 * PAUSE);
    let late = stream.read(&mut [0]).unwrap_err();
    assert_eq!(
        late.kind(),
        ErrorKind::WouldBlock,
        "although a byte is there"
    );
    stream.limit_pauses(PAUSE);
    assert_eq!(
        stream.reading_ends(),
        None,
        "rows were sent: the reply is to come"
    );
}
