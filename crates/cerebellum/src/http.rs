//! HTTP for the page and for scene control: bounded in connections and in the time a request may take to arrive.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum_server::Handle;
use axum_server::accept::Accept;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::compose::Life;

/// How long open connections may hold the end of the program: an open event stream would hold it for ever.
const GRACE: Duration = Duration::from_secs(1);

/// What a server puts up with.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// How long the head of a request may take to arrive, the first and each later one.
    head: Duration,
    /// How many connections there may be; further ones are closed at once.
    connections: usize,
}

const LIMITS: Limits = Limits { head: Duration::from_secs(20), connections: 256 };

/// Serves plain HTTP routes until the program stops.
pub fn serve(listener: TcpListener, router: Router, life: &Life) {
    serve_within(listener, router, life, LIMITS);
}

fn serve_within(listener: TcpListener, router: Router, life: &Life, limits: Limits) {
    let stop = life.stop.clone();
    life.tasks.spawn(async move {
        let handle = Handle::new();
        let serving = listen(listener, router, handle.clone(), limits);
        tokio::pin!(serving);
        let served = tokio::select! {
            served = &mut serving => served,
            () = stop.cancelled() => {
                handle.graceful_shutdown(Some(GRACE));
                serving.await
            }
        };
        if let Err(error) = served {
            tracing::error!(%error, "an HTTP server ended by a fault");
        }
    });
}

async fn listen(
    listener: TcpListener,
    router: Router,
    handle: Handle<std::net::SocketAddr>,
    limits: Limits,
) -> io::Result<()> {
    let mut server = axum_server::from_tcp(listener.into_std()?)?
        .handle(handle)
        .first_request_timeout(limits.head)
        .http1_only()
        .acceptor(Bounded(Arc::new(Semaphore::new(limits.connections))));
    server.http_builder().http1().header_read_timeout(limits.head);
    server.serve(router.into_make_service()).await
}

/// Takes as many connections as there are permits.
#[derive(Clone)]
struct Bounded(Arc<Semaphore>);

impl<S> Accept<TcpStream, S> for Bounded {
    type Stream = Counted;
    type Service = S;
    type Future = std::future::Ready<io::Result<(Counted, S)>>;

    fn accept(&self, stream: TcpStream, service: S) -> Self::Future {
        let permit = Arc::clone(&self.0).try_acquire_owned().map_err(|_full| io::Error::other("too many connections"));
        std::future::ready(permit.and_then(|permit| {
            stream.set_nodelay(true)?;
            Ok((Counted { stream, _permit: permit }, service))
        }))
    }
}

/// A connection, and its permit.
struct Counted {
    stream: TcpStream,
    _permit: OwnedSemaphorePermit,
}

impl AsyncRead for Counted {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl AsyncWrite for Counted {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    const DEADLINE: Duration = Duration::from_secs(10);
    const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n";

    async fn serving(limits: Limits) -> (std::net::SocketAddr, Life) {
        let life = Life::default();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        serve_within(listener, Router::new().route("/", get(|| async { "here" })), &life, limits);
        (address, life)
    }

    /// What comes until the other side closes.
    async fn rest(stream: &mut TcpStream) -> Vec<u8> {
        let mut bytes = Vec::new();
        // A reset is an end too.
        let _end = tokio::time::timeout(DEADLINE, stream.read_to_end(&mut bytes)).await.expect("it is closed");
        bytes
    }

    async fn answer(stream: &mut TcpStream) -> String {
        stream.write_all(REQUEST).await.unwrap();
        let mut bytes = [0; 1024];
        let count = tokio::time::timeout(DEADLINE, stream.read(&mut bytes)).await.unwrap().unwrap();
        String::from_utf8_lossy(&bytes[..count]).into_owned()
    }

    #[tokio::test]
    async fn a_request_that_never_ends_is_closed() {
        let (address, life) = serving(Limits { head: Duration::from_millis(100), connections: 4 }).await;
        for half in [&b""[..], b"GET / HTT"] {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(half).await.unwrap();
            let bytes = rest(&mut stream).await;
            assert!(!String::from_utf8_lossy(&bytes).contains("200 OK"));
        }
        let mut stream = TcpStream::connect(address).await.unwrap();
        assert!(answer(&mut stream).await.contains("200 OK"));
        stream.write_all(b"GET / HTT").await.unwrap();
        rest(&mut stream).await;
        life.end().await;
    }

    #[tokio::test]
    async fn connections_beyond_the_bound_are_closed_and_a_closed_one_makes_room() {
        let (address, life) = serving(Limits { head: DEADLINE * 2, connections: 1 }).await;
        let mut first = TcpStream::connect(address).await.unwrap();
        assert!(answer(&mut first).await.contains("200 OK"));
        let mut second = TcpStream::connect(address).await.unwrap();
        assert!(rest(&mut second).await.is_empty());
        assert!(answer(&mut first).await.contains("200 OK"));
        drop(first);
        let served = async {
            loop {
                let mut next = TcpStream::connect(address).await.unwrap();
                next.write_all(REQUEST).await.unwrap();
                let mut bytes = [0; 64];
                if matches!(next.read(&mut bytes).await, Ok(count) if count > 0) {
                    break;
                }
            }
        };
        tokio::time::timeout(DEADLINE, served).await.expect("the room is free again");
        life.end().await;
    }

    #[tokio::test]
    async fn an_open_connection_does_not_hold_the_end() {
        let (address, life) = serving(LIMITS).await;
        let mut stream = TcpStream::connect(address).await.unwrap();
        assert!(answer(&mut stream).await.contains("200 OK"));
        let tasks = life.tasks.clone();
        life.end().await;
        assert!(tasks.is_empty());
    }
}
