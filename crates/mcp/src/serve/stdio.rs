use std::time::Duration;

use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage, serve_server_with_ct};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{RoleServer, ServerHandler};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use super::STOP_BOUND;
use crate::calls::Calls;

/// How long calls that were sent just before standard input closed may still be answered.
const LAST_ANSWERS: Duration = Duration::from_millis(200);

/// Serves one caller over a pair of byte streams, until `stop` is cancelled or the input ends. When the input ends, calls
/// that still run after a fifth of a second are cancelled, and the answer comes at the latest two seconds later.
pub(super) async fn serve<H, R, W>(handler: H, calls: Calls, (reader, writer): (R, W), stop: CancellationToken)
where
    H: ServerHandler,
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let session = CancellationToken::new();
    let closed = CancellationToken::new();
    let transport = EndOfInput { inner: AsyncRwTransport::new_server(reader, writer), closed: closed.clone() };
    let serving = async {
        match serve_server_with_ct(handler, transport, session.clone()).await {
            Ok(service) => {
                if let Err(error) = service.waiting().await {
                    tracing::error!(%error, "the session ended by a fault");
                }
            }
            Err(error) => tracing::debug!(%error, "no session was opened on standard input"),
        }
    };
    let told_to_end = async {
        tokio::select! {
            () = stop.cancelled() => {}
            () = closed.cancelled() => tokio::time::sleep(LAST_ANSWERS).await,
        }
        calls.stop(STOP_BOUND).await;
        session.cancel();
        tokio::time::sleep(STOP_BOUND).await;
    };
    tokio::select! {
        () = serving => {}
        () = told_to_end => tracing::warn!("the session did not end in time, leaving it"),
    }
}

/// Notices that the caller closed its end. The library would let calls run on for five seconds.
struct EndOfInput<T> {
    inner: T,
    closed: CancellationToken,
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for EndOfInput<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let message = self.inner.receive().await;
        if message.is_none() {
            self.closed.cancel();
        }
        message
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}
