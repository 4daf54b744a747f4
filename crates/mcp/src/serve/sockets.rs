use std::future::Ready;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum_server::accept::Accept;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::throttle::Throttle;

/// The most connections at a time; one more is closed at once.
const CONNECTIONS_MAX: usize = 1024;

/// Sockets answer at once, notice a dead peer, and are so many at most.
#[derive(Clone)]
pub(super) struct Sockets {
    unacknowledged: Duration,
    room: Arc<Semaphore>,
    log: Arc<Throttle>,
}

impl Sockets {
    /// `unacknowledged` is how long sent bytes may stay unacknowledged before the connection counts as dead.
    pub(super) fn new(unacknowledged: Duration) -> Self {
        Self { unacknowledged, room: Arc::new(Semaphore::new(CONNECTIONS_MAX)), log: Arc::default() }
    }

    fn admit(&self, stream: TcpStream) -> io::Result<Connection> {
        let Ok(place) = Arc::clone(&self.room).try_acquire_owned() else {
            if let Some(count) = self.log.due() {
                tracing::warn!(count, limit = CONNECTIONS_MAX, "too many connections, closing the new ones");
            }
            return Err(io::Error::other("too many connections"));
        };
        stream.set_nodelay(true)?;
        // Other systems have no such option; there the keep-alive bytes alone find a dead peer.
        #[cfg(target_os = "linux")]
        socket2::SockRef::from(&stream).set_tcp_user_timeout(Some(self.unacknowledged))?;
        Ok(Connection { stream, _place: place })
    }
}

impl<S> Accept<TcpStream, S> for Sockets {
    type Stream = Connection;
    type Service = S;
    type Future = Ready<io::Result<(Connection, S)>>;

    fn accept(&self, stream: TcpStream, service: S) -> Self::Future {
        std::future::ready(self.admit(stream).map(|connection| (connection, service)))
    }
}

/// A connection and its place among the others, given back when it closes.
pub(super) struct Connection {
    stream: TcpStream,
    _place: OwnedSemaphorePermit,
}

impl AsyncRead for Connection {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn one_connection_too_many_is_closed_until_another_one_ends() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let come = async || {
            let caller = TcpStream::connect(address).await.unwrap();
            (caller, listener.accept().await.unwrap().0)
        };
        let sockets = Sockets::new(Duration::from_secs(30));
        let others = Arc::clone(&sockets.room).try_acquire_many_owned(CONNECTIONS_MAX as u32 - 1).unwrap();
        let (_last_caller, last) = come().await;
        let last = sockets.admit(last).unwrap();
        let (mut caller, one_more) = come().await;
        assert!(sockets.admit(one_more).is_err());
        let read = tokio::io::AsyncReadExt::read(&mut caller, &mut [0]).await;
        assert_eq!(read.unwrap_or_default(), 0, "the caller of one too many is left waiting");
        drop(last);
        let (_caller, next) = come().await;
        assert!(sockets.admit(next).is_ok());
        drop(others);
    }
}
