//! The accept loop. `axum::serve` waits for ever for a head that does not come; this loop does not.

use std::{convert::Infallible, io, net::SocketAddr, sync::Arc, time::Duration};

use espelho_model::watch;
use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    deliver::{Arriving, Receiver},
    tls::Tls,
    warnings::Warning,
};
use crate::{
    http::{
        connections::{Connections, Refusal, Registered},
        timed::Timed,
    },
    panics::contained,
};

/// The maximum number of headers of one request.
const MOST_HEADERS: usize = 64;
/// The maximum size of a request's head, and of one read of a body.
const BUFFER: usize = 16 << 10;
/// The pause after an error of `accept` that the next try would meet again at once.
const BACK_OFF: Duration = Duration::from_millis(100);

/// Serves connections.
pub(super) struct ConnectionServer {
    pub receiver: Arc<Receiver>,
    pub connections: Arc<Connections>,
    pub tls: Option<Arc<Tls>>,
    /// Ends accepting, and each connection after its current request.
    pub stop: CancellationToken,
    pub serving: TaskTracker,
}

impl ConnectionServer {
    /// Accepts until `stop` is cancelled. It closes the socket then, and requests that arrived are served.
    pub(super) async fn accept_all(self: Arc<Self>, listener: TcpListener) {
        // Now and then one is accepted, between two that are not.
        let refused = Warning::default();
        loop {
            let waiting = watch::idle();
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = self.stop.cancelled() => return,
            };
            drop(waiting);
            match accepted {
                Ok((socket, peer)) => self.take(socket, peer),
                // The client has gone before it was accepted.
                Err(error) if is_the_clients(&error) => {}
                Err(error) => {
                    if refused.is_due(self.receiver.clock.monotonic()) {
                        tracing::warn!(%error, open = self.connections.len(), "connections cannot be accepted for now");
                    }
                    // Descriptors or memory have run out: an unproven connection makes room.
                    self.connections.evict();
                    self.receiver.clock.sleep(BACK_OFF).await;
                }
            }
        }
    }

    fn take(self: &Arc<Self>, socket: TcpStream, peer: SocketAddr) {
        let registered = match self.connections.admit(peer.ip()) {
            Ok(registered) => registered,
            Err(refusal @ (Refusal::Address | Refusal::Full)) => {
                tracing::debug!(?refusal, "connection not admitted");
                return;
            }
        };
        let id = registered.0.id();
        let task = self.serving.spawn(contained(Arc::clone(self).serve(socket, registered)));
        self.connections.served_by(id, task.abort_handle());
    }

    async fn serve(self: Arc<Self>, socket: TcpStream, registered: Registered) {
        // An answer is one small packet; waiting to fill it would cost 40 ms.
        if socket.set_nodelay(true).is_err() {
            return;
        }
        match &self.tls {
            None => self.speak(socket, &registered).await,
            Some(tls) => match tls.acceptor().accept(socket).await {
                Ok(socket) => self.speak(socket, &registered).await,
                Err(error) => tracing::debug!(%error, "TLS handshake failed"),
            },
        }
    }

    async fn speak(&self, socket: impl AsyncRead + AsyncWrite + Unpin, registered: &Registered) {
        let connection = &registered.0;
        let service = service_fn(|request: Arriving| async {
            Ok::<_, Infallible>(self.receiver.answer(request, connection).await)
        });
        let io = TokioIo::new(Timed::new(socket, Arc::clone(connection)));
        let speaking = http1::Builder::new()
            // `connections` keeps the deadlines, for all of them at once.
            .header_read_timeout(None)
            .max_headers(MOST_HEADERS)
            .max_buf_size(BUFFER)
            .serve_connection(io, service);
        let mut speaking = std::pin::pin!(speaking);
        let spoken = tokio::select! {
            spoken = speaking.as_mut() => spoken,
            () = self.stop.cancelled() => {
                speaking.as_mut().graceful_shutdown();
                speaking.await
            }
        };
        if let Err(error) = spoken {
            tracing::debug!(%error, "connection ended early");
        }
    }
}

fn is_the_clients(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}
