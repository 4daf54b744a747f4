use std::path::Path;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::{ServeError, TlsFiles};

/// Reads certificate and key. Only HTTP/1.1 is offered: a caller that goes away then closes its connection, which is what
/// the drop guard watches.
pub(super) fn load(files: &TlsFiles) -> Result<Arc<ServerConfig>, ServeError> {
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(&files.cert)
        .and_then(Iterator::collect)
        .map_err(|error| bad(&files.cert, &error))?;
    if chain.is_empty() {
        return Err(bad(&files.cert, &"no certificate in it"));
    }
    let key = PrivateKeyDer::from_pem_file(&files.key).map_err(|error| bad(&files.key, &error))?;
    let mut config = ServerConfig::builder_with_provider(crate::tls_provider())
        .with_safe_default_protocol_versions()
        .map_err(|error| bad(&files.cert, &error))?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|error| bad(&files.key, &error))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

fn bad(path: &Path, reason: &dyn std::fmt::Display) -> ServeError {
    ServeError::Tls { path: path.to_owned(), reason: reason.to_string() }
}
