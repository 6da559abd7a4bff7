//! Sessions against a scripted server at the other end of a socket pair.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::task::Poll;

use super::{acknowledgement, packet, result};
use crate::driver::mysql::session::MysqlSession;
use crate::driver::mysql::statement::forms;
use crate::driver::socket::Stream;
use crate::driver::{Args, Fault, Protocol, Reply, Session, Statement};

fn pair() -> (MysqlSession, UnixStream) {
    let (ours, server) = UnixStream::pair().unwrap();
    let statement = Statement::prepared("SELECT c FROM t WHERE id=?");
    ours.set_nonblocking(true).unwrap();
    let stream = Stream::unix(mio::net::UnixStream::from_std(ours));
    let forms = forms(&[statement], Protocol::Text);
    (MysqlSession::new(stream, forms.into(), None), server)
}

fn args(id: i64) -> Args {
    let mut args = Args::default();
    args.push_int(id);
    args
}

fn outcome(session: &mut MysqlSession) -> Result<Reply, Fault> {
    match session.poll() {
        Poll::Ready(outcome) => outcome,
        Poll::Pending => panic!("the whole reply was there"),
    }
}

#[test]
fn a_statement_is_one_packet_and_its_reply_may_come_in_two() {
    let (mut session, mut server) = pair();
    session.submit(0, &args(42)).unwrap();
    let mut received = [0; 64];
    let length = server.read(&mut received).unwrap();
    assert_eq!(
        received[..length],
        packet(0, b"\x03SELECT c FROM t WHERE id=42")
    );
    assert!(session.poll().is_pending());
    let reply = result(&[b"\x03abc"]);
    server.write_all(&reply[..9]).unwrap();
    assert!(session.poll().is_pending());
    server.write_all(&reply[9..]).unwrap();
    assert_eq!(outcome(&mut session).unwrap().rows, 1);
}

#[test]
fn a_refused_statement_leaves_the_connection_usable() {
    let (mut session, mut server) = pair();
    session.submit(0, &args(1)).unwrap();
    server
        .write_all(&packet(1, b"\xFF\xBD\x04#40001Deadlock"))
        .unwrap();
    assert!(outcome(&mut session).unwrap_err().is_transient());
    session.submit(0, &args(2)).unwrap();
    server.write_all(&acknowledgement(1)).unwrap();
    assert_eq!(outcome(&mut session).unwrap().affected, 1);
}

#[test]
fn a_server_that_goes_away_in_the_middle() {
    let (mut session, mut server) = pair();
    session.submit(0, &args(1)).unwrap();
    server.write_all(&result(&[b"\x03abc"])[..20]).unwrap();
    drop(server);
    assert!(matches!(outcome(&mut session), Err(Fault::Lost(_))));
    assert!(matches!(session.submit(0, &args(2)), Err(Fault::Lost(_))));
}

#[test]
fn a_server_that_speaks_out_of_turn() {
    let (mut session, mut server) = pair();
    session.submit(0, &args(1)).unwrap();
    server.write_all(&packet(9, b"\0\0\0\x02\0")).unwrap();
    assert!(matches!(outcome(&mut session), Err(Fault::Protocol(_))));
}

#[test]
fn what_the_socket_does_not_take_is_sent_later() {
    let (mut session, mut server) = pair();
    // More than a Unix socket's buffer holds.
    let mut long = Args::default();
    long.push_text(|out| out.resize(4 << 20, b'x'));
    session.submit(0, &long).unwrap();
    assert!(session.wants_write());
    let reader = std::thread::spawn(move || {
        let mut received = vec![0; (4 << 20) + b"SELECT c FROM t WHERE id=''".len() + 5];
        server.read_exact(&mut received).unwrap();
        server.write_all(&acknowledgement(0)).unwrap();
        server
    });
    let reply = loop {
        match session.poll() {
            Poll::Ready(reply) => break reply,
            Poll::Pending => std::thread::yield_now(),
        }
    };
    assert_eq!(reply.unwrap(), Reply::default());
    assert!(!session.wants_write());
    drop(reader.join().unwrap());
}
