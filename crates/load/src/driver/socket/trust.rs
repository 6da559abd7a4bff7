//! Which certificates of a server are believed.

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

/// Which part of a server's certificate is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Check {
    /// Nothing: a listener cannot read the bytes, but somebody in the middle can.
    Nothing,
    /// That one of the user's authorities issued it.
    Authority,
    /// And that it is made out to the host that was asked for.
    Identity,
}

/// Checks a server's certificate as the URL demands.
#[derive(Debug)]
pub(super) struct Trust {
    check: Check,
    /// Those of the user's file, as they stand there and as issuers of others.
    certificates: Vec<CertificateDer<'static>>,
    authorities: RootCertStore,
    algorithms: WebPkiSupportedAlgorithms,
}

impl Trust {
    pub(super) fn new(
        check: Check,
        certificates: Vec<CertificateDer<'static>>,
        algorithms: WebPkiSupportedAlgorithms,
    ) -> Result<Self, Error> {
        let mut authorities = RootCertStore::empty();
        for certificate in &certificates {
            authorities.add(certificate.clone())?;
        }
        Ok(Self {
            check,
            certificates,
            authorities,
            algorithms,
        })
    }

    fn verify_issuer(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        certificate: &ParsedCertificate<'_>,
        now: UnixTime,
    ) -> Result<(), Error> {
        // A server that signed its own certificate is no authority over others; the user who
        // gives just this certificate means it.
        if self.certificates.contains(end_entity) {
            return Ok(());
        }
        verify_server_cert_signed_by_trust_anchor(
            certificate,
            &self.authorities,
            intermediates,
            now,
            self.algorithms.all,
        )
    }
}

impl ServerCertVerifier for Trust {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if self.check != Check::Nothing {
            let certificate = ParsedCertificate::try_from(end_entity)?;
            self.verify_issuer(end_entity, intermediates, &certificate, now)?;
            if self.check == Check::Identity {
                verify_server_name(&certificate, server_name)?;
            }
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match self.check {
            // The signature of somebody unknown proves nothing; certificates of a form that
            // could not be checked, such as version 1, need not be refused for it.
            Check::Nothing => Ok(HandshakeSignatureValid::assertion()),
            _ => verify_tls12_signature(message, certificate, signature, &self.algorithms),
        }
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match self.check {
            Check::Nothing => Ok(HandshakeSignatureValid::assertion()),
            _ => verify_tls13_signature(message, certificate, signature, &self.algorithms),
        }
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
