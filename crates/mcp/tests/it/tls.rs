use std::sync::Arc;

use cerebellum_mcp::attach::{Address, CallOptions, Client, Endpoint};
use cerebellum_mcp::serve::{ServeConfig, ServeError, TlsFiles, Transport, serve};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::robot::Robot;
use crate::support::PATIENCE;

#[tokio::test]
async fn both_transports_are_served_over_tls() {
    let folder = tempfile::tempdir().unwrap();
    let files = TlsFiles { cert: folder.path().join("cert.pem"), key: folder.path().join("key.pem") };
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    std::fs::write(&files.cert, made.cert.pem()).unwrap();
    std::fs::write(&files.key, made.signing_key.serialize_pem()).unwrap();
    let config = ServeConfig { transport: Transport::Http, tls: Some(files.clone()), ..ServeConfig::default() };
    let stop = CancellationToken::new();
    let _end = stop.clone().drop_guard();
    let running = serve(Arc::new(Robot::default()), config, stop).await.unwrap();
    let port = running.address.unwrap().port();
    for path in ["mcp", "sse"] {
        let url = format!("https://localhost:{port}/{path}");
        let address = Address { url, token: None, trusted_root: Some(files.cert.clone()) };
        let endpoint = if path == "sse" { Endpoint::Sse(address) } else { Endpoint::Http(address) };
        let client = Client::connect(&endpoint, PATIENCE).await.unwrap();
        let arguments = json!({"query": "x"}).as_object().unwrap().clone();
        assert!(client.call("look", arguments, CallOptions::within(PATIENCE)).await.unwrap().is_ok(), "{path}");
    }
}

#[tokio::test]
async fn an_unusable_certificate_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let files = TlsFiles { cert: folder.path().join("cert.pem"), key: folder.path().join("key.pem") };
    let open = |files| {
        let config = ServeConfig { transport: Transport::Http, tls: Some(files), ..ServeConfig::default() };
        serve(Arc::new(Robot::default()), config, CancellationToken::new())
    };
    let missing = open(files.clone()).await.unwrap_err();
    assert!(matches!(&missing, ServeError::Tls { path, .. } if *path == files.cert), "{missing}");
    std::fs::write(&files.cert, "nonsense").unwrap();
    let nonsense = open(files.clone()).await.unwrap_err();
    assert!(matches!(&nonsense, ServeError::Tls { path, .. } if *path == files.cert), "{nonsense}");
}
