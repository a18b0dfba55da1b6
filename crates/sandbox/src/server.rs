//! The server: a listener, its connections, and the handle to them.

use std::{fmt, net::SocketAddr, sync::Arc, time::Duration};

use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{
    net::{TcpListener, TcpStream},
    task::{JoinHandle, JoinSet},
};

use crate::{
    clock, control::Control, error::Error, options::Options, service, stats::Stats, store::StoreAccess,
    world::World,
};

/// Builds the world and serves it on the listener, in tasks of the current runtime.
///
/// # Errors
///
/// When the Olist data set cannot be read, or the listener has no address.
pub async fn start(listener: TcpListener, options: Options) -> Result<Sandbox, Error> {
    let address = listener
        .local_addr()
        .map_err(|source| Error::Listen { address: "the given listener".into(), source })?;
    // Loading takes seconds with the large data set; it must not hold up the other tasks of the runtime.
    let world = tokio::task::spawn_blocking(|| World::build(options))
        .await
        .map_err(|_| Error::Options("the world could not be built"))??;
    let world = Arc::new(world);
    let serving = tokio::spawn(accept(listener, Arc::clone(&world)));
    Ok(Sandbox { address, world, serving })
}

/// A running sandbox. It ends when it is dropped.
pub struct Sandbox {
    address: SocketAddr,
    world: Arc<World>,
    serving: JoinHandle<()>,
}

impl Sandbox {
    /// The address that clients prefix every route with, without a slash at its end.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Every store, with its credential as it is now.
    pub fn stores(&self) -> Vec<StoreAccess> {
        self.world.stores.iter().map(crate::store::Store::access).collect()
    }

    /// What the sandbox saw.
    pub fn stats(&self) -> Stats {
        self.world.counters.snapshot()
    }

    /// Begins to count anew. The limits of the tokens stay as they are.
    pub fn reset_stats(&self) {
        self.control().reset_stats();
    }

    /// The handle that changes the world behind the API's back.
    pub fn control(&self) -> Control {
        Control::new(Arc::clone(&self.world))
    }

    /// Closes the listener and every connection, at once.
    pub async fn stop(mut self) {
        self.serving.abort();
        // It was aborted: the only thing to learn is that it has ended.
        let _ = (&mut self.serving).await;
    }

    /// Serves until the process ends.
    pub async fn run(mut self) {
        let _ = (&mut self.serving).await;
    }
}

impl fmt::Debug for Sandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sandbox").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// Accepts connections until the task is aborted, which drops the connections with it.
async fn accept(listener: TcpListener, world: Arc<World>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                match accepted {
                    Ok((stream, peer)) => {
                        connections.spawn(connection(stream, peer, Arc::clone(&world)));
                    }
                    // Out of descriptors, say: without a pause this loop would burn the processor until some are free.
                    Err(_) => clock::stall(Duration::from_millis(20)).await,
                }
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

/// Serves one connection to its end, however it ends: clients and faults both break connections.
async fn connection(stream: TcpStream, peer: SocketAddr, world: Arc<World>) {
    let _ = stream.set_nodelay(true);
    let serve = service_fn(move |request| service::serve(Arc::clone(&world), peer.ip(), request));
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), serve).await;
}
