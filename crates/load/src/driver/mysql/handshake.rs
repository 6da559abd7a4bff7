//! The log-in, without a socket: a packet goes in, what to do comes out.

use mysql_common::auth::plugins::{AuthProc, ChallengeResponsePlugin, Context};
use mysql_common::constants::{CapabilityFlags, MariadbCapabilities};
use mysql_common::io::ParseBuf;
use mysql_common::packets::{
    AuthPlugin, AuthSwitchRequest, HandshakePacket, HandshakeResponse, SslRequest,
};
use mysql_common::proto::MySerialize;

use super::error::server_error;
use super::reply::{ERROR, OK};
use super::wire::protocol;
use crate::driver::Fault;
use crate::driver::account::Login;

/// The next step of the log-in.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// The next packet from the server.
    Wait,
    /// This packet to be sent, then the next from the server.
    Send(Vec<u8>),
    /// The request to be sent as it is, everything from there on encrypted, the answer first.
    Encrypt {
        request: Vec<u8>,
        answer: Vec<u8>,
    },
    Done,
}

/// A log-in in progress.
#[derive(Debug, Default)]
pub struct Handshake {
    offers_local_data: bool,
    /// Whether results are to come with the definitions of their columns.
    needs_definitions: bool,
    /// Whether the server can encrypt a connection.
    offers_encryption: bool,
    /// Packets so far.
    packets: usize,
    state: State,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Greeting,
    Authenticating {
        procedure: AuthProc,
        scramble: Vec<u8>,
    },
    Done,
}

/// The longest packet that we say we send and take: all that the protocol allows.
const LONGEST_SENT: u32 = 0xFF_FFFF;

/// A log-in takes fewer than ten packets; a server that goes on and on would keep the event loop to
/// itself.
const MAX_PACKETS: usize = 100;

const MORE_DATA: u8 = 0x01;
const SWITCH: u8 = 0xFE;

impl Handshake {
    /// A log-in for a connection that may use LOAD DATA LOCAL.
    pub fn offering_local_data() -> Self {
        Self {
            offers_local_data: true,
            ..Self::default()
        }
    }

    /// The session reads values, so each result must describe its columns.
    pub(super) fn ask_for_definitions(&mut self) {
        self.needs_definitions = true;
    }

    /// Takes the server's next packet.
    pub fn on_packet(&mut self, login: &Login, packet: &[u8]) -> Result<Step, Fault> {
        self.packets += 1;
        if self.packets > MAX_PACKETS {
            return Err(protocol("a log-in that never ends"));
        }
        if packet.first() == Some(&ERROR) {
            return Err(self.refused(login, packet));
        }
        match std::mem::replace(&mut self.state, State::Done) {
            State::Greeting => self.answer_greeting(login, packet),
            State::Authenticating {
                procedure,
                scramble,
            } => self.authenticate(login, packet, procedure, scramble),
            State::Done => Err(protocol("a packet after the log-in had ended")),
        }
    }

    fn answer_greeting(&mut self, login: &Login, packet: &[u8]) -> Result<Step, Fault> {
        let greeting = parse_greeting(packet)?;
        let server_version = version(&greeting);
        let mut wanted = wanted_capabilities();
        wanted.set(CapabilityFlags::CLIENT_LOCAL_FILES, self.offers_local_data);
        wanted.set(CapabilityFlags::CLIENT_SSL, login.encrypt);
        let offered = greeting.capabilities();
        let capabilities = wanted & offered;
        if !capabilities.contains(CapabilityFlags::CLIENT_PROTOCOL_41) {
            return Err(protocol(format!(
                "server {server_version} has only the protocol from before MySQL 4.1"
            )));
        }
        self.offers_encryption = offered.contains(CapabilityFlags::CLIENT_SSL);
        if login.encrypt && !self.offers_encryption {
            return Err(Fault::Tls(format!(
                "server {server_version} offers no TLS; give it a certificate (ssl_cert and ssl_key), or leave \
                 ssl-mode out of the URL"
            )));
        }
        let scramble = greeting.nonce();
        // If the server's default method is not supported here, it will ask to switch.
        let plugin = greeting
            .auth_plugin()
            .filter(|plugin| permitted(plugin, login))
            .unwrap_or(AuthPlugin::MysqlNativePassword);
        let mut procedure = plugin.init().map_err(|error| protocol(error.to_string()))?;
        let answer = respond(&mut procedure, login, &scramble, &scramble)?.unwrap_or_default();
        let extensions = self.wanted_extensions(&greeting);
        // The library takes digits of any script, and panics.
        let is_readable = greeting.server_version_ref().is_ascii();
        let response = HandshakeResponse::new(
            Some(answer),
            is_readable
                .then(|| greeting.server_version_parsed())
                .flatten()
                .unwrap_or_default(),
            Some(login.user.as_bytes()),
            Some(login.database.as_bytes()),
            capabilities
                .contains(CapabilityFlags::CLIENT_PLUGIN_AUTH)
                .then(|| plugin.borrow()),
            capabilities,
            None,
            LONGEST_SENT,
        )
        .with_mariadb_ext_capabilities(extensions);
        let collation = response.collation();
        self.state = State::Authenticating {
            procedure,
            scramble,
        };
        let answer = serialized(&response);
        if login.encrypt {
            let request = SslRequest::new(capabilities, LONGEST_SENT, collation)
                .with_mariadb_capabilities(extensions);
            let request = serialized(&request);
            return Ok(Step::Encrypt { request, answer });
        }
        Ok(Step::Send(answer))
    }

    /// The server's error, with a hint if the user can do something about it.
    fn refused(&self, login: &Login, packet: &[u8]) -> Fault {
        const ACCESS_DENIED: &str = "1045";
        const ENCRYPTION_REQUIRED: &str = "3159";
        const TOO_MANY_CONNECTIONS: &str = "1040";
        let mut fault = server_error(packet);
        if let Fault::Server(error) = &mut fault {
            error.message.push_str(match error.code.as_str() {
                TOO_MANY_CONNECTIONS => "; raise max_connections there or ask for fewer clients",
                ENCRYPTION_REQUIRED if !login.encrypt => "; add ssl-mode=required to the URL",
                ACCESS_DENIED if self.offers_encryption && !login.encrypt => {
                    "; if the account requires TLS, add ssl-mode=required to the URL"
                }
                _ => "",
            });
        }
        fault
    }

    /// The columns of a prepared statement are described when it is prepared and not with each
    /// result, as sysbench's own library asks of `MariaDB`: a point SELECT's reply is a quarter
    /// shorter and costs the server less. Administration reads the descriptions, and so does a
    /// workload that reads values. A server with
    /// `CLIENT_LONG_PASSWORD` in its greeting is not `MariaDB`, and this field then means nothing.
    fn wanted_extensions(&self, greeting: &HandshakePacket<'_>) -> MariadbCapabilities {
        let is_mysql = greeting
            .capabilities()
            .contains(CapabilityFlags::CLIENT_LONG_PASSWORD);
        if is_mysql || self.offers_local_data || self.needs_definitions {
            return MariadbCapabilities::empty();
        }
        greeting.mariadb_ext_capabilities() & MariadbCapabilities::MARIADB_CLIENT_CACHE_METADATA
    }

    fn authenticate(
        &mut self,
        login: &Login,
        packet: &[u8],
        mut procedure: AuthProc,
        mut scramble: Vec<u8>,
    ) -> Result<Step, Fault> {
        let answer = match packet {
            [OK, ..] => return Ok(Step::Done),
            [MORE_DATA, key @ ..] if key.len() > 1 && asks_for_key(&procedure) => {
                // Whoever is in the middle can send a key, and read what was encrypted by it.
                return Err(protocol(
                    "the server asks for the password itself, and the connection is not encrypted; add \
                     ssl-mode=required to the URL",
                ));
            }
            [MORE_DATA, challenge @ ..] => respond(&mut procedure, login, &scramble, challenge)?,
            [SWITCH] => return Err(refused_plugin("mysql_old_password")),
            [SWITCH, ..] => {
                let request: AuthSwitchRequest<'_> = ParseBuf(packet)
                    .parse(())
                    .map_err(|_| protocol("a request to switch authentication that breaks off"))?;
                let plugin = request.auth_plugin();
                if !permitted(&plugin, login) {
                    return Err(refused_plugin(&String::from_utf8_lossy(plugin.as_bytes())));
                }
                procedure = plugin.init().map_err(|error| protocol(error.to_string()))?;
                scramble = request.plugin_data().to_vec();
                Some(respond(&mut procedure, login, &scramble, &scramble)?.unwrap_or_default())
            }
            _ => return Err(protocol("a packet that has no place in a log-in")),
        };
        self.state = State::Authenticating {
            procedure,
            scramble,
        };
        Ok(answer.map_or(Step::Wait, Step::Send))
    }
}

fn serialized(packet: &impl MySerialize) -> Vec<u8> {
    let mut bytes = Vec::new();
    packet.serialize(&mut bytes);
    bytes
}

/// Our capabilities; only those that the server also has are requested. No `DEPRECATE_EOF`: replies
/// then have one form on all servers since 5.1, and those of sysbench have the same length.
fn wanted_capabilities() -> CapabilityFlags {
    CapabilityFlags::CLIENT_LONG_PASSWORD
        | CapabilityFlags::CLIENT_LONG_FLAG
        | CapabilityFlags::CLIENT_PROTOCOL_41
        | CapabilityFlags::CLIENT_TRANSACTIONS
        | CapabilityFlags::CLIENT_SECURE_CONNECTION
        | CapabilityFlags::CLIENT_MULTI_RESULTS
        | CapabilityFlags::CLIENT_PS_MULTI_RESULTS
        | CapabilityFlags::CLIENT_PLUGIN_AUTH
        | CapabilityFlags::CLIENT_CONNECT_WITH_DB
}

/// The supported methods of authentication. A readable password is sent only if nobody can listen
/// or stand in the middle. The method from before 4.1 is insecure, so it is not supported.
fn permitted(plugin: &AuthPlugin<'_>, login: &Login) -> bool {
    match plugin {
        AuthPlugin::MysqlNativePassword
        | AuthPlugin::CachingSha2Password
        | AuthPlugin::Sha256Password
        | AuthPlugin::Ed25519 => true,
        AuthPlugin::MysqlClearPassword => login.is_local || (login.encrypt && login.verify),
        _ => false,
    }
}

/// Whether the server's answer may be its public key.
fn asks_for_key(procedure: &AuthProc) -> bool {
    matches!(
        procedure,
        AuthProc::CachingSha2Password(_) | AuthProc::Sha256Password(_)
    )
}

fn refused_plugin(name: &str) -> Fault {
    protocol(format!(
        "the account requires the authentication method {name}, which is not supported on this connection; give it mysql_native_password, caching_sha2_password or ed25519{}",
        if name == "mysql_clear_password" {
            ", or connect with ssl-mode=verify-ca or verify-identity, since this one shows the \
             server the password itself"
        } else {
            ""
        }
    ))
}

pub(crate) fn parse_greeting(packet: &[u8]) -> Result<HandshakePacket<'_>, Fault> {
    /// Offset of the scramble's length after the version's terminator: connection id (4), first
    /// scramble (8), filler, capabilities (2), collation, status (2), capabilities (2).
    const LENGTH_AT: usize = 20;
    let broken = || protocol("a greeting that is not MySQL's");
    let version_end = packet
        .iter()
        .position(|&byte| byte == 0)
        .ok_or_else(broken)?;
    // The crate reads this length as a signed number; real ones are 0 or 21.
    let scramble_length = packet.get(version_end + 1 + LENGTH_AT).ok_or_else(broken)?;
    if scramble_length.leading_ones() > 0 || packet.first() != Some(&10) {
        return Err(broken());
    }
    ParseBuf(packet).parse(()).map_err(|_| broken())
}

/// `10.11.14-MariaDB`: MariaDB puts `5.5.5-` before its version, for old replicas' sake.
fn version(greeting: &HandshakePacket<'_>) -> String {
    let version = greeting.server_version_str();
    match version.strip_prefix("5.5.5-") {
        Some(own) if own.contains("MariaDB") => own.to_owned(),
        _ => version.into_owned(),
    }
}

/// The answer to a challenge; `None` if none is to be sent.
fn respond(
    procedure: &mut AuthProc,
    login: &Login,
    scramble: &[u8],
    challenge: &[u8],
) -> Result<Option<Vec<u8>>, Fault> {
    let context = Channel { login, scramble };
    let response = procedure
        .run(context, challenge)
        .map_err(|error| protocol(format!("the log-in broke off: {error}")))?;
    Ok(response.data().map(<[u8]>::to_vec))
}

/// The log-in as the authentication methods see it.
struct Channel<'a> {
    login: &'a Login,
    scramble: &'a [u8],
}

impl Context for Channel<'_> {
    fn pass(&self) -> &[u8] {
        self.login
            .password
            .0
            .as_deref()
            .unwrap_or_default()
            .as_bytes()
    }

    fn is_ipc_transport(&self) -> bool {
        self.login.is_local
    }

    fn is_tls_transport(&self) -> bool {
        self.login.encrypt
    }

    fn scramble(&self) -> &[u8] {
        self.scramble
    }

    fn server_key_pem(&self) -> Option<&[u8]> {
        None
    }
}
