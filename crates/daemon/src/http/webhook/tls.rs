//! TLS of the receiver: certificate and key from files, read again when they change.

use parking_lot::Mutex;
use std::{
    io,
    path::PathBuf,
    sync::Arc,
    time::{Duration, SystemTime},
};

use espelho_model::Clock;
use rustls::{
    ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

/// How often the files are checked.
const LOOK_AGAIN: Duration = Duration::from_secs(10);

/// The paths of the certificate chain and its key, in PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TlsFiles {
    pub certificate: PathBuf,
    pub key: PathBuf,
}

/// The certificate in use.
pub(crate) struct Tls {
    files: TlsFiles,
    current: Mutex<(Arc<ServerConfig>, Stamp)>,
}

/// The time of the last write and the length of both files.
type Stamp = [(Option<SystemTime>, u64); 2];

impl Tls {
    /// Reads the files.
    pub(crate) fn load(files: TlsFiles) -> io::Result<Self> {
        // The stamp comes before the contents: a write in between is found the next time.
        let found = stamp(&files)?;
        let current = Mutex::new((server_config(&files)?, found));
        Ok(Self { files, current })
    }

    /// Returns the acceptor for new connections.
    pub(super) fn acceptor(&self) -> TlsAcceptor {
        let current = self.current.lock();
        Arc::clone(&current.0).into()
    }

    /// Loads the files as they are now; returns whether they had changed. Unusable files do not replace the current
    /// certificate.
    pub(super) fn refresh(&self) -> io::Result<bool> {
        let found = stamp(&self.files)?;
        if self.current.lock().1 == found {
            return Ok(false);
        }
        let config = server_config(&self.files)?;
        *self.current.lock() = (config, found);
        Ok(true)
    }

    /// Checks the files repeatedly until `stop` is cancelled.
    pub(super) async fn keep_fresh(self: Arc<Self>, clock: Arc<dyn Clock>, stop: CancellationToken) {
        loop {
            tokio::select! { () = clock.sleep(LOOK_AGAIN) => {}, () = stop.cancelled() => return }
            self.look_again();
        }
    }

    /// Checks the files, and logs the result.
    pub(super) fn look_again(&self) {
        match self.refresh() {
            Ok(true) => tracing::info!("the receiver's certificate has been renewed"),
            Ok(false) => {}
            // Certificate and key are replaced one after the other, so the next check may succeed.
            Err(error) => {
                tracing::warn!(%error, "cannot use the receiver's new certificate; the old one stays");
            }
        }
    }
}

fn stamp(files: &TlsFiles) -> io::Result<Stamp> {
    let of = |path: &PathBuf| {
        std::fs::metadata(path).map(|found| (found.modified().ok(), found.len())).map_err(|e| named(path, &e))
    };
    Ok([of(&files.certificate)?, of(&files.key)?])
}

fn server_config(files: &TlsFiles) -> io::Result<Arc<ServerConfig>> {
    let chain =
        CertificateDer::pem_file_iter(&files.certificate).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let chain = chain.map_err(|e| named(&files.certificate, &e))?;
    let key = PrivateKeyDer::from_pem_file(&files.key).map_err(|e| named(&files.key, &e))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?;
    let mut config = builder
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|e| named(&files.certificate, &e))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

fn named(path: &std::path::Path, error: &dyn std::error::Error) -> io::Error {
    io::Error::other(format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use rustls::pki_types::pem::PemObject as _;

    use super::*;

    fn put(name: &str, into: &Path) {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/tls");
        for kind in ["crt", "key"] {
            let text = std::fs::read(fixtures.join(format!("{name}.{kind}"))).unwrap();
            std::fs::write(into.join(format!("tls.{kind}")), text).unwrap();
        }
    }

    fn files(dir: &Path) -> TlsFiles {
        TlsFiles { certificate: dir.join("tls.crt"), key: dir.join("tls.key") }
    }

    /// Returns the certificate that a handshake shows.
    async fn shown(tls: &Tls) -> CertificateDer<'static> {
        let mut roots = rustls::RootCertStore::empty();
        for name in ["first", "second"] {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../tests/tls/{name}.crt"));
            roots.add(CertificateDer::from_pem_file(path).unwrap()).unwrap();
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config =
            rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let config = config.unwrap().with_root_certificates(roots).with_no_client_auth();
        let connector = tokio_rustls::TlsConnector::from(Arc::new(config));
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let name = rustls::pki_types::ServerName::try_from("localhost").unwrap();
        let (client, server) = tokio::join!(connector.connect(name, ours), tls.acceptor().accept(theirs));
        server.unwrap();
        client.unwrap().get_ref().1.peer_certificates().unwrap()[0].clone()
    }

    #[tokio::test]
    async fn a_certificate_that_is_replaced_is_shown_to_the_next_connection() {
        let dir = tempfile::tempdir().unwrap();
        put("first", dir.path());
        let tls = Tls::load(files(dir.path())).unwrap();
        let first = shown(&tls).await;
        assert!(!tls.refresh().unwrap(), "nothing has changed");
        put("second", dir.path());
        assert!(tls.refresh().unwrap());
        assert_ne!(shown(&tls).await, first);
        assert!(!tls.refresh().unwrap());
    }

    #[tokio::test]
    async fn a_certificate_without_its_key_does_not_replace_the_one_in_use() {
        let dir = tempfile::tempdir().unwrap();
        put("first", dir.path());
        let tls = Tls::load(files(dir.path())).unwrap();
        let first = shown(&tls).await;
        let second = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/tls/second.crt");
        std::fs::copy(second, dir.path().join("tls.crt")).unwrap();
        assert!(tls.refresh().is_err());
        assert_eq!(shown(&tls).await, first);
        put("second", dir.path());
        assert!(tls.refresh().unwrap(), "the key has come, so both are taken");
    }

    #[test]
    fn files_that_are_no_certificate_are_named() {
        let dir = tempfile::tempdir().unwrap();
        let error = |files| Tls::load(files).err().unwrap().to_string();
        assert!(error(files(dir.path())).contains("tls.crt"));
        put("first", dir.path());
        std::fs::write(dir.path().join("tls.key"), "no key").unwrap();
        assert!(error(files(dir.path())).contains("tls.key"));
        std::fs::write(dir.path().join("tls.crt"), "").unwrap();
        assert!(Tls::load(files(dir.path())).is_err());
    }
}
