//! Logging in, without a socket: a message comes in, perhaps an answer goes out.
//!
//! The order is that of the PostgreSQL manual, "Message Flow / Start-up": the server asks for a
//! proof of identity, grants entry, sends its parameters and is ready. Each state accepts only the
//! messages that may come next, so no server can skip the SCRAM exchange, in which it proves that
//! it has the password too.

use bytes::BytesMut;
use fallible_iterator::FallibleIterator;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::backend::{AuthenticationSaslBody, Message};
use postgres_protocol::message::frontend;

use super::error::Refusal;
use crate::driver::account::Login;
use crate::driver::{Fault, ServerError, protocol};

/// The caller's step after a message.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// Send what was written, if anything was, and wait for the next message.
    Continue,
    /// The server is ready for statements.
    Ready,
}

/// The state of the log-in.
pub struct Handshake {
    state: State,
}

enum State {
    /// The startup message is out; the server says how it wants to be convinced.
    Asked,
    /// The first SCRAM message is out.
    ScramBegun(Box<ScramSha256>),
    /// Our SCRAM proof is out; the server still owes its own.
    ScramProven(Box<ScramSha256>),
    /// There is nothing more to prove: the server grants entry or refuses.
    Proven,
    /// Entry granted; parameters follow until the server is ready.
    Entered,
    Done,
}

impl Handshake {
    /// Writes the startup message to `out` and begins.
    pub fn begin(login: &Login, out: &mut BytesMut) -> Result<Self, Fault> {
        let parameters = [
            ("user", login.user.as_str()),
            ("database", login.database.as_str()),
            ("client_encoding", "UTF8"),
            ("application_name", "diskproof-load"),
            // Literals are escaped by doubling quotes alone, which is right only with this.
            ("standard_conforming_strings", "on"),
        ];
        // Said only if asked for: the account may have a value of its own.
        let guard = login
            .read_only
            .then_some(("default_transaction_read_only", "on"));
        frontend::startup_message(parameters.into_iter().chain(guard), out)
            .map_err(|error| protocol(format!("cannot send the user or database name: {error}")))?;
        Ok(Self {
            state: State::Asked,
        })
    }

    /// Takes one message of the server and writes the answer, if there is one, to `out`.
    ///
    /// A refusal (wrong password, no such database) is `Fault::Server` with its SQLSTATE.
    pub fn on_message(
        &mut self,
        login: &Login,
        message: Message,
        out: &mut BytesMut,
    ) -> Result<Step, Fault> {
        let state = std::mem::replace(&mut self.state, State::Done);
        self.state = match (state, message) {
            (_, Message::ErrorResponse(body)) => {
                return Err(Fault::Server(refused(login, Refusal::read(&body)?)));
            }
            (state, Message::NoticeResponse(_)) => state,
            (State::Asked, request) => answer_request(login, &request, out)?,
            (State::ScramBegun(mut scram), Message::AuthenticationSaslContinue(body)) => {
                scram.update(body.data()).map_err(scram_fault)?;
                write(frontend::sasl_response(scram.message(), out))?;
                State::ScramProven(scram)
            }
            (State::ScramProven(mut scram), Message::AuthenticationSaslFinal(body)) => {
                scram.finish(body.data()).map_err(scram_fault)?;
                State::Proven
            }
            (State::Proven, Message::AuthenticationOk) => State::Entered,
            (State::Entered, Message::ParameterStatus(_) | Message::BackendKeyData(_)) => {
                State::Entered
            }
            (State::Entered, Message::ReadyForQuery(_)) => return Ok(Step::Ready),
            _ => {
                let what = "a message that does not belong there in a log-in";
                return Err(protocol(what));
            }
        };
        Ok(Step::Continue)
    }
}

/// The server's error, with a hint if the user can do something about it.
fn refused(login: &Login, refusal: Refusal) -> ServerError {
    const TOO_MANY_CONNECTIONS: &str = "53300";
    let names_no_line = refusal.comes_from_host_rules();
    let mut error = refusal.into_server_error();
    if error.code == TOO_MANY_CONNECTIONS {
        error.message += "; raise max_connections there or ask for fewer clients";
    }
    if names_no_line && !(login.is_local || login.encrypt) {
        error.message += "; if the server accepts only encrypted connections (hostssl in its pg_hba.conf), \
            add sslmode=require to the URL";
    }
    error
}

/// Answers the server's demand for a proof of identity.
fn answer_request(login: &Login, request: &Message, out: &mut BytesMut) -> Result<State, Fault> {
    match request {
        Message::AuthenticationOk => Ok(State::Entered),
        Message::AuthenticationMd5Password(body) => {
            let password = password(login)?;
            let proof = md5_hash(login.user.as_bytes(), password, body.salt());
            write(frontend::password_message(proof.as_bytes(), out))?;
            Ok(State::Proven)
        }
        Message::AuthenticationCleartextPassword => {
            if !(login.is_local || login.encrypt) {
                return Err(protocol(
                    "the server asks for the password in clear text over the network; add sslmode=require to the URL, or set scram-sha-256 for this host in its \
                     pg_hba.conf",
                ));
            }
            write(frontend::password_message(password(login)?, out))?;
            Ok(State::Proven)
        }
        Message::AuthenticationSasl(body) => begin_scram(login, body, out),
        Message::AuthenticationGss
        | Message::AuthenticationSspi
        | Message::AuthenticationKerberosV5
        | Message::AuthenticationScmCredential => Err(protocol(
            "the server requires an unsupported log-in (GSSAPI, SSPI, Kerberos); allow scram-sha-256, md5, peer or trust for this user in its pg_hba.conf",
        )),
        _ => Err(protocol("no log-in is asked for: is it PostgreSQL?")),
    }
}

fn begin_scram(
    login: &Login,
    body: &AuthenticationSaslBody,
    out: &mut BytesMut,
) -> Result<State, Fault> {
    let offers_scram = body
        .mechanisms()
        .any(|mechanism| Ok(mechanism == SCRAM_SHA_256))
        .map_err(scram_fault)?;
    if !offers_scram {
        let what = "the server offers SASL without SCRAM-SHA-256, the only supported mechanism";
        return Err(protocol(what));
    }
    let scram = Box::new(ScramSha256::new(
        password(login)?,
        ChannelBinding::unsupported(),
    ));
    write(frontend::sasl_initial_response(
        SCRAM_SHA_256,
        scram.message(),
        out,
    ))?;
    Ok(State::ScramBegun(scram))
}

fn password(login: &Login) -> Result<&[u8], Fault> {
    match &login.password.0 {
        Some(password) => Ok(password.as_bytes()),
        None => Err(protocol(format!(
            "the server asks for a password of user \"{}\"; \
             set DISKPROOF_PASSWORD or give --password-file",
            login.user
        ))),
    }
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "the shape that map_err wants"
)]
fn scram_fault(error: std::io::Error) -> Fault {
    protocol(format!("the SCRAM exchange failed: {error}"))
}

/// Writing a message fails only if a string holds a zero byte or passes the protocol's limit.
fn write(written: std::io::Result<()>) -> Result<(), Fault> {
    written.map_err(|error| protocol(format!("the log-in cannot be written: {error}")))
}
