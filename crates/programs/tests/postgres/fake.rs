//! A server that talks nonsense: faults must be told as faults, never by a panic or a hang.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::thread;
use std::time::Duration;

use diskproof_load::driver::{Driver, Fault, Protocol, Reply};
use tempfile::TempDir;

use crate::database::driver;
use crate::drive::{Client, ints, statement};

/// A well-formed message.
pub(crate) fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 4).expect("a short body");
    [&[tag], &length.to_be_bytes()[..], body].concat()
}

pub(crate) fn authentication(kind: u8, data: &[u8]) -> Vec<u8> {
    message(b'R', &[&[0, 0, 0, kind], data].concat())
}

fn ready() -> Vec<u8> {
    message(b'Z', b"I")
}

/// A log-in that is granted at once.
fn entered() -> Vec<u8> {
    let parameter = message(b'S', b"server_name\0x\0");
    [authentication(0, b""), parameter, ready()].concat()
}

/// Listens on a socket of its own; answers each thing it reads with the next line of `script`,
/// then closes.
struct Fake {
    directory: TempDir,
}

impl Fake {
    fn start(script: Vec<Vec<u8>>) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let listener = UnixListener::bind(directory.path().join("sock")).expect("a socket");
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a client");
            let mut heard = [0; 4096];
            for line in script {
                if !matches!(stream.read(&mut heard), Ok(1..)) {
                    return;
                }
                // The client may have had enough already.
                let _ = stream.write_all(&line);
            }
        });
        Self { directory }
    }

    fn url(&self) -> String {
        let socket = self.directory.path().join("sock");
        format!("postgresql://me@localhost/db?socket={}", socket.display())
    }
}

fn log_in(answers: &[Vec<u8>]) -> Fault {
    let fake = Fake::start(answers.to_vec());
    match driver(&fake.url(), Some("secret")).connect(&[], Protocol::Text) {
        Err(fault) => fault,
        Ok(_) => panic!("logged in to {answers:?}"),
    }
}

/// Logs in properly, sends one statement and gets these bytes, then the end of the stream.
fn ask(answer: &[u8]) -> Result<Reply, Fault> {
    let fake = Fake::start(vec![entered(), answer.to_vec()]);
    let session = driver(&fake.url(), None).connect(&[statement("SELECT ?")], Protocol::Text);
    Client::new(session.expect("a log-in")).run(0, &ints(&[1]))
}

#[test]
fn nonsense_at_log_in_is_a_protocol_fault() {
    for answer in [
        b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(),
        // A MySQL greeting.
        b"\x4a\0\0\0\x0a8.0.36\0\x08\0\0\0abcdefgh\0".to_vec(),
        // Lengths that cannot be.
        b"R\0\0\0\0".to_vec(),
        b"R\0\0\0\x03".to_vec(),
        b"R\x7f\xff\xff\xff\0\0\0\0".to_vec(),
        b"R\xff\xff\xff\xff".to_vec(),
        // Demands that are cut short or not known.
        message(b'R', b"\0\0"),
        authentication(99, b""),
        authentication(7, b""),
        authentication(10, b"X\0"),
        authentication(10, b"SCRAM-SHA-1024\0\0"),
        authentication(5, b"\x01\x02"),
        // Out of place.
        authentication(11, b"r=x"),
        message(b'E', b"SFAT"),
        ready(),
    ] {
        let fault = log_in(std::slice::from_ref(&answer));
        assert!(matches!(fault, Fault::Protocol(_)), "{answer:?}: {fault}");
    }
}

#[test]
fn a_server_that_leaves_during_log_in_is_lost() {
    for answer in [&b""[..], b"R", b"R\0\0\0\x08\0", &authentication(0, b"")] {
        let fault = log_in(&[answer.to_vec()]);
        assert!(matches!(fault, Fault::Lost(_)), "{answer:?}: {fault}");
    }
}

/// The first connection finds the address; the second begins without waiting for an answer.
#[test]
fn a_server_that_is_gone_is_not_reached() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let driver = driver(&format!("postgresql://me@127.0.0.1:{port}/db"), None);
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a client");
        let heard = stream.read(&mut [0; 4096]).expect("a greeting");
        assert!(heard > 0);
        stream.write_all(&entered()).expect("a client that listens");
    });
    driver.connect(&[], Protocol::Text).expect("a log-in");
    server.join().expect("a server");
    let fault = driver.connect(&[], Protocol::Text).err().expect("no one");
    assert!(matches!(fault, Fault::Unreachable(_)), "{fault}");
    assert!(fault.to_string().contains(&port.to_string()), "{fault}");
}

#[test]
fn a_server_cannot_skip_its_own_part_of_scram() {
    for shortcut in [
        authentication(0, b""),
        authentication(12, b"v=AA"),
        authentication(11, b"r=x,s=AA==,i=1"),
        authentication(11, b"\xff\xfe\xfd\xfc\xfb"),
    ] {
        let fault = log_in(&[authentication(10, b"SCRAM-SHA-256\0\0"), shortcut.clone()]);
        assert!(matches!(fault, Fault::Protocol(_)), "{shortcut:?}: {fault}");
    }
}

/// The server refuses rows while the last of them wait for room, then reads on.
#[test]
fn rows_that_are_refused_amid_a_message_are_sent_to_their_end() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let listener = UnixListener::bind(directory.path().join("sock")).expect("a socket");
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a client");
        assert!(stream.read(&mut [0; 4096]).expect("a greeting") > 0);
        stream.write_all(&entered()).expect("a log-in");
        assert!(next_message(&mut stream).0 == b'Q');
        let accepted = message(b'G', &[0, 0, 1, 0, 0]);
        stream.write_all(&accepted).expect("a client that listens");
        thread::sleep(Duration::from_millis(100));
        let refusal = message(b'E', b"SERROR\0VERROR\0C22003\0Mtoo large\0\0");
        let refusal = [refusal, ready()].concat();
        stream.write_all(&refusal).expect("a client that listens");
        thread::sleep(Duration::from_millis(100));
        let next = loop {
            match next_message(&mut stream) {
                (b'd', _) => {}
                next => break next,
            }
        };
        stream
            .write_all(&[message(b'C', b"SELECT 0\0"), ready()].concat())
            .expect("a client that listens");
        next
    });
    let url = format!(
        "postgresql://me@localhost/db?socket={}",
        directory.path().join("sock").display()
    );
    let mut admin = driver(&url, None).admin().expect("a connection");
    let refused = admin.load("small", &["c"], &mut |args| {
        args.push_text(|out| out.resize(out.len() + 1000, b'x'));
        true
    });
    match refused {
        Err(Fault::Server(error)) => assert_eq!(error.code, "22003"),
        other => panic!("{other:?}"),
    }
    admin.execute("SELECT 7").expect("an answer");
    assert_eq!(
        server.join().expect("whole messages"),
        (b'Q', b"SELECT 7\0".to_vec())
    );
}

fn next_message(stream: &mut impl Read) -> (u8, Vec<u8>) {
    let mut head = [0; 5];
    stream.read_exact(&mut head).expect("a message");
    let length = u32::from_be_bytes(head[1..].try_into().expect("four bytes"));
    let mut body = vec![0; length as usize - 4];
    stream.read_exact(&mut body).expect("a whole message");
    (head[0], body)
}

#[test]
fn nonsense_in_a_reply_is_a_protocol_fault() {
    for answer in [
        b"garbage that is not a message".to_vec(),
        b"D\0\0\0\x03".to_vec(),
        b"D\x7f\xff\xff\xff\0\x01".to_vec(),
        b"C\x00\x7f\xff\xff".to_vec(),
        // No such type; a type that only we send; one that belongs to a log-in.
        message(b'?', b""),
        message(b'Q', b""),
        authentication(0, b""),
        // Replies that end without a result, or in no known state.
        ready(),
        [message(b'C', b"SELECT 1\0"), message(b'Z', b"X")].concat(),
        [message(b'C', b"SELECT 1\0"), message(b'Z', b"")].concat(),
        // Tags without their count or their end.
        message(b'C', b"UPDATE x\0"),
        message(b'C', b"INSERT \0"),
        message(b'C', b"UPDATE 1"),
        message(b'C', b""),
        message(b'E', b"SFA"),
        // A COPY, for which a statement of a workload carries no rows.
        message(b'G', b"\0\0\0"),
        // A row after the reply.
        [
            message(b'C', b"SELECT 1\0"),
            ready(),
            message(b'D', b"\0\0"),
        ]
        .concat(),
    ] {
        let outcome = ask(&answer);
        assert!(
            matches!(outcome, Err(Fault::Protocol(_))),
            "{answer:?}: {outcome:?}"
        );
    }
}

#[test]
fn a_stream_that_ends_in_a_reply_is_lost() {
    let cut = |message: Vec<u8>| message[..message.len() - 1].to_vec();
    for answer in [
        b"".to_vec(),
        b"C".to_vec(),
        cut(message(b'D', b"half a row")),
        cut(message(b'C', b"SELECT 1\0")),
        message(b'C', b"SELECT 1\0"),
    ] {
        let outcome = ask(&answer);
        assert!(
            matches!(outcome, Err(Fault::Lost(_))),
            "{answer:?}: {outcome:?}"
        );
    }
}

#[test]
fn a_shutdown_after_a_reply_comes_with_the_next_statement() {
    let shutdown = message(b'E', b"SFATAL\0VFATAL\0C57P01\0Mgoing down\0\0");
    let reply = [message(b'C', b"SELECT 1\0"), ready(), shutdown].concat();
    let fake = Fake::start(vec![entered(), reply]);
    let session = driver(&fake.url(), None).connect(&[statement("SELECT ?")], Protocol::Text);
    let mut client = Client::new(session.expect("a log-in"));
    assert_eq!(client.run(0, &ints(&[1])).unwrap(), Reply::default());
    match client.run(0, &ints(&[1])) {
        Err(Fault::Lost(error)) => assert!(error.to_string().contains("going down (57P01)")),
        other => panic!("{other:?}"),
    }
}
