//! The page's connections: as few, and as short while they say nothing, as those of the receiver.
//!
//! Without bounds, half requests to the page would take the descriptors that the receiver needs. At the limit, the
//! oldest connection that waits for a request goes; one that is being answered stays, however long a run takes.

use std::{
    future::Future as _,
    io,
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    body::Body,
    extract::{ConnectInfo, Request, connect_info::Connected},
    middleware::Next,
    response::Response,
    serve::{IncomingStream, Listener},
};
use espelho_model::Clock;
use http_body_util::BodyExt as _;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use super::{
    connections::{Connection, ConnectionLimits, Connections, Registered},
    timed::Timed,
};

/// The bounds of the page's connections.
const LIMITS: ConnectionLimits = ConnectionLimits {
    connections: 256,
    connections_per_address: 64,
    header: Duration::from_secs(10),
    // A run that is handed to the service may take a day.
    request: Duration::from_secs(30 * 86_400),
    idle: Duration::from_secs(60),
};
/// The pause after an error of `accept` that the next try would meet again at once.
const BACK_OFF: Duration = Duration::from_millis(100);
/// The answer when every connection is being answered.
const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\nContent-Length: 48\r\n\
    Retry-After: 5\r\nConnection: close\r\n\r\ntoo many connections to http.listen; try again\r\n";

/// A listener whose connections are bounded.
pub(super) struct BoundedListener {
    listener: TcpListener,
    connections: Arc<Connections>,
    clock: Arc<dyn Clock>,
}

/// A connection's peer, and its entry in the list.
#[derive(Clone)]
pub(super) struct Peer {
    address: SocketAddr,
    connection: Arc<Connection>,
}

/// A socket that ends when its connection has to go.
pub(super) struct BoundedSocket {
    socket: Timed<TcpStream>,
    has_to_go: Pin<Box<WaitForCancellationFutureOwned>>,
    registered: Registered,
}

/// Notes the end of an answer when its body has been passed on.
struct Answering(Arc<Connection>);

impl BoundedListener {
    /// Bounds a listener; its deadlines are kept until `done` is cancelled.
    pub(super) fn new(listener: TcpListener, clock: Arc<dyn Clock>, done: CancellationToken) -> Self {
        let connections = Connections::new(LIMITS, Arc::clone(&clock));
        tokio::spawn(Arc::clone(&connections).keep_deadlines(done));
        Self { listener, connections, clock }
    }

    fn admit(&self, socket: TcpStream, peer: SocketAddr) -> Option<BoundedSocket> {
        let Ok(registered) = self.connections.admit(peer.ip()) else {
            // As much as fits at once: whoever does not read it learns the same from the closed connection.
            let _ = socket.try_write(FULL);
            return None;
        };
        let ends = CancellationToken::new();
        let (has_to_go, sentinel) = (Box::pin(ends.clone().cancelled_owned()), ends.drop_guard());
        let task = tokio::spawn(async move {
            let _sentinel = sentinel;
            std::future::pending::<()>().await;
        });
        self.connections.served_by(registered.0.id(), task.abort_handle());
        let socket = Timed::new(socket, Arc::clone(&registered.0));
        Some(BoundedSocket { socket, has_to_go, registered })
    }
}

impl Listener for BoundedListener {
    type Io = BoundedSocket;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (BoundedSocket, SocketAddr) {
        loop {
            match self.listener.accept().await {
                Ok((socket, peer)) => {
                    if let Some(socket) = self.admit(socket, peer) {
                        return (socket, peer);
                    }
                }
                Err(error) => {
                    tracing::debug!(%error, "a connection to the page cannot be accepted");
                    self.connections.evict();
                    self.clock.sleep(BACK_OFF).await;
                }
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

impl Connected<IncomingStream<'_, BoundedListener>> for Peer {
    fn connect_info(stream: IncomingStream<'_, BoundedListener>) -> Self {
        Self { address: *stream.remote_addr(), connection: Arc::clone(&stream.io().registered.0) }
    }
}

/// Tells a connection when its request begins and when its answer has been passed on.
pub(super) async fn timed(
    ConnectInfo(Peer { address, connection }): ConnectInfo<Peer>,
    mut request: Request,
    next: Next,
) -> Response {
    connection.request_began();
    connection.proven();
    let answering = Answering(connection);
    request.extensions_mut().insert(ConnectInfo(address));
    next.run(request).await.map(|body| {
        Body::new(body.map_frame(move |frame| {
            let _until_the_end = &answering;
            frame
        }))
    })
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.request_ended();
        self.0.rests();
    }
}

impl BoundedSocket {
    fn ended(&mut self, context: &mut Context<'_>) -> bool {
        self.has_to_go.as_mut().poll(context).is_ready()
    }
}

impl AsyncRead for BoundedSocket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.ended(context) {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        Pin::new(&mut self.socket).poll_read(context, buffer)
    }
}

impl AsyncWrite for BoundedSocket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.ended(context) {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        Pin::new(&mut self.socket).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(context)
    }
}

#[cfg(test)]
#[path = "tests/bounded.rs"]
mod tests;
