//! Callers that begin and do not go on. The clock is paused, so that waiting takes no time.

use cerebellum_mcp::serve::ServeConfig;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::{Events, Raw, Server, server};

/// All that the server sends until it closes the connection.
async fn told(server: &Server, sent: &str) -> String {
    let mut caller = TcpStream::connect(server.address).await.unwrap();
    caller.write_all(sent.as_bytes()).await.unwrap();
    let mut told = String::new();
    caller.read_to_string(&mut told).await.unwrap();
    told
}

fn unfinished(path: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nAccept: application/json, text/event-stream\r\n\
         Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{{"
    )
}

#[tokio::test(start_paused = true)]
async fn an_unfinished_body_is_answered_with_408_and_the_connection_closed() {
    let server = server(ServeConfig::default()).await;
    let answer = told(&server, &unfinished("/mcp")).await;
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    let stream = Raw::new(server.url("/sse")).request(reqwest::Method::GET).send().await.unwrap();
    let mut events = Events::of(stream);
    let inbox = events.field("data").await;
    let answer = told(&server, &unfinished(&inbox)).await;
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
}

#[tokio::test(start_paused = true)]
async fn a_connection_without_a_next_request_is_closed() {
    let server = server(ServeConfig::default()).await;
    let first = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";
    for next in ["", "GET /hea"] {
        let answer = told(&server, &format!("{first}{next}")).await;
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    }
}
