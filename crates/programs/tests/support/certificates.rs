//! A server's certificate for `localhost`, issued by an authority of the tests' own.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tempfile::TempDir;

/// Files that a server and its clients read, gone with this.
pub(crate) struct Certificates {
    directory: TempDir,
}

impl Certificates {
    /// `authority.pem` issued `server.pem`, whose key is `server.key`; `stranger.pem` did not.
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let authority = authority();
        let key = KeyPair::generate().expect("a key");
        let server = CertificateParams::new(vec!["localhost".to_owned()])
            .and_then(|params| params.signed_by(&key, &authority))
            .expect("a certificate");
        let certificates = Self { directory };
        certificates.write("authority.pem", &authority.pem());
        certificates.write("stranger.pem", &self::authority().pem());
        certificates.write("server.pem", &server.pem());
        certificates.write("server.key", &key.serialize_pem());
        certificates
    }

    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Readable by its owner alone, as servers demand it of their keys.
    fn write(&self, name: &str, text: &str) {
        fs::write(self.file(name), text).expect("a file");
        let own = fs::Permissions::from_mode(0o600);
        fs::set_permissions(self.file(name), own).expect("permissions");
    }
}

fn authority() -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::new(Vec::new()).expect("parameters");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    KeyPair::generate()
        .and_then(|key| CertifiedIssuer::self_signed(params, key))
        .expect("an authority")
}
