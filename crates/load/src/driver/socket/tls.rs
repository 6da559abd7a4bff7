//! The encryption of a driver's connections, prepared once.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

use rustls::client::Resumption;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{AlertDescription, CertificateError, ClientConfig, Error};

use super::options::{Demand, Vocabulary};
use super::trust::{Check, Trust};
use crate::file;
use crate::target::{Endpoint, Server, TargetError};

/// Shared by all encrypted connections to one server.
#[derive(Debug)]
pub(crate) struct Tls {
    pub(super) config: Arc<ClientConfig>,
    server_name: ServerName<'static>,
    /// Whether the server's certificate is checked.
    pub(crate) verifies: bool,
}

impl Tls {
    /// Reads the URL's options, in the words of `vocabulary`, and the files that they name; `None`
    /// without encryption.
    pub(crate) fn from_options(
        server: &Server,
        vocabulary: &Vocabulary,
    ) -> Result<Option<Self>, TargetError> {
        let demand = vocabulary.read(server)?;
        let tls = demand.map(|demand| Self::new(&demand, &server.endpoint, vocabulary));
        tls.transpose()
    }

    fn new(
        demand: &Demand,
        endpoint: &Endpoint,
        vocabulary: &Vocabulary,
    ) -> Result<Self, TargetError> {
        let provider = Arc::new(ring::default_provider());
        let file = demand.authority.as_deref().unwrap_or(Path::new(""));
        let certificates = match &demand.authority {
            None => Vec::new(),
            Some(file) => read(file).map_err(|reason| vocabulary.unreadable(file, reason))?,
        };
        let algorithms = provider.signature_verification_algorithms;
        let trust = Trust::new(demand.check, certificates, algorithms)
            .map_err(|reason| vocabulary.unreadable(file, reason))?;
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("the provider knows the versions that it was made for")
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(trust))
            .with_no_client_auth();
        // Each connection shakes hands in full, as each of the databases' own clients does: a
        // workload that connects again and again measures the whole of it.
        config.resumption = Resumption::disabled();
        Ok(Self {
            config: Arc::new(config),
            server_name: server_name(endpoint)?,
            verifies: demand.check != Check::Nothing,
        })
    }

    pub(super) fn server_name(&self) -> ServerName<'static> {
        self.server_name.clone()
    }
}

/// All authorities that a system trusts take a quarter of a megabyte.
const LARGEST_BYTES: u64 = 4 << 20;

/// The certificates of a PEM file.
fn read(file: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let pem = file::read(file, LARGEST_BYTES)?;
    let certificates: Vec<_> = CertificateDer::pem_slice_iter(&pem)
        .collect::<Result<_, _>>()
        .map_err(|error| error.to_string())?;
    if certificates.is_empty() {
        return Err("there is none in PEM format".into());
    }
    Ok(certificates)
}

/// Whom a certificate must be made out to.
fn server_name(endpoint: &Endpoint) -> Result<ServerName<'static>, TargetError> {
    let host = match endpoint {
        Endpoint::Unix(_) => "localhost",
        Endpoint::Tcp { host, .. } => host,
    };
    ServerName::try_from(host.to_owned()).map_err(|error| TargetError::Malformed {
        url: host.to_owned(),
        reason: format!("no certificate can be issued to this host: {error}"),
    })
}

/// Why there is no encrypted connection, within an [`io::Error`].
#[derive(Debug)]
pub(crate) struct TlsFailure(Error);

impl std::error::Error for TlsFailure {}

impl fmt::Display for TlsFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(error) = self;
        match error {
            Error::InvalidCertificate(reason) => certificate_in_words(reason, f),
            Error::PeerIncompatible(_)
            | Error::AlertReceived(AlertDescription::ProtocolVersion) => {
                write!(
                    f,
                    "the server has no TLS 1.2 or 1.3 that this program supports ({error})"
                )
            }
            Error::InvalidMessage(_) => write!(f, "the server's answer is not TLS ({error})"),
            _ => write!(f, "no encrypted connection with the server ({error})"),
        }
    }
}

fn certificate_in_words(reason: &CertificateError, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "the server's certificate is not trusted: ")?;
    match reason {
        // A bad signature: an authority of the same name, which is another.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            write!(f, "no authority in the URL's file issued it")
        }
        CertificateError::NotValidForNameContext { presented, .. } if !presented.is_empty() => {
            let names = presented.join(", ");
            write!(f, "it is issued to {names}, not to the URL's host")
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            write!(
                f,
                "it is not issued to the URL's host, or only by its common name, which does not count (subjectAltName does)"
            )
        }
        // As when the server signed its own and the file holds another.
        other => write!(
            f,
            "{other}; name the file of the authority that issued it in the URL"
        ),
    }
}

pub(super) fn failure(error: Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, TlsFailure(error))
}
