//! The server: a listener, its connections, and the handle to them.

use std::{fmt, net::SocketAddr, sync::Arc, time::Duration};

use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpStream},
    task::{JoinHandle, JoinSet},
};

use crate::{
    clock, control::Control, error::Error, options::Options, pipeline, route_table, stats::Stats, storage,
    store::StoreAccess, webhooks::sender, world::World,
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
    let world = tokio::task::spawn_blocking(|| World::build(options, route_table::names()))
        .await
        .map_err(|_| Error::Options("the world could not be built"))??;
    let world = Arc::new(world);
    let _ = world.address.set(address);
    let storing = open_storage(&world, address).await?;
    let serving = tokio::spawn(accept(listener, Arc::clone(&world), Origin::Api));
    let jobs = tokio::spawn(run_jobs(Arc::clone(&world)));
    let sending = tokio::spawn(sender::run(Arc::clone(&world)));
    Ok(Sandbox { address, world, serving, storing, jobs, sending })
}

/// Serves the object storage beside the API, and gives its origin to the catalogues, which write addresses.
async fn open_storage(world: &Arc<World>, api: SocketAddr) -> Result<JoinHandle<()>, Error> {
    let wanted = world.options.storage.unwrap_or_else(|| SocketAddr::new(api.ip(), 0));
    let failed = |source| Error::Listen { address: wanted.to_string(), source };
    let listener = TcpListener::bind(wanted).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    world.storage.serve_at(format!("http://{address}"));
    for store in &world.stores {
        store.catalogue_mut().serve_images_at(world.storage.shared_origin());
    }
    Ok(tokio::spawn(accept(listener, Arc::clone(world), Origin::Storage)))
}

/// A running sandbox. It ends when it is dropped.
pub struct Sandbox {
    address: SocketAddr,
    world: Arc<World>,
    serving: JoinHandle<()>,
    storing: JoinHandle<()>,
    /// Runs the jobs of the marketplace.
    jobs: JoinHandle<()>,
    /// Sends deliveries to webhooks.
    sending: JoinHandle<()>,
}

impl Sandbox {
    /// The address that clients prefix every route with, without a slash at its end.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The origin of the object storage, which serves images and labels; without a slash at its end.
    pub fn storage_origin(&self) -> String {
        self.world.storage.origin().to_owned()
    }

    /// Every store, with its credential as it is now.
    pub fn stores(&self) -> Vec<StoreAccess> {
        self.world.stores.iter().map(crate::store::Store::access).collect()
    }

    /// The numbers of the server.
    pub fn stats(&self) -> Stats {
        self.world.counters.snapshot()
    }

    /// Sets every counter to zero. The limits of the tokens stay as they are.
    pub fn reset_stats(&self) {
        self.control().reset_stats();
    }

    /// The handle that changes the world behind the API's back.
    pub fn control(&self) -> Control {
        Control::new(Arc::clone(&self.world))
    }

    /// Closes the listeners and every connection, at once.
    pub async fn stop(mut self) {
        self.jobs.abort();
        self.sending.abort();
        self.serving.abort();
        self.storing.abort();
        // They were aborted: the only thing to learn is that they have ended.
        let _ = (&mut self.serving).await;
        let _ = (&mut self.storing).await;
        let _ = (&mut self.sending).await;
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
        self.storing.abort();
        self.jobs.abort();
        self.sending.abort();
    }
}

/// What a listener serves.
#[derive(Clone, Copy)]
enum Origin {
    Api,
    Storage,
}

/// How often the sandbox runs the jobs that are due.
const HEARTBEAT: Duration = Duration::from_millis(25);

/// Runs due jobs until the task is aborted.
async fn run_jobs(world: Arc<World>) {
    loop {
        world.run_due_jobs();
        clock::stall(HEARTBEAT).await;
    }
}

/// Accepts connections until the task is aborted, which drops the connections with it.
async fn accept(listener: TcpListener, world: Arc<World>, origin: Origin) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                match accepted {
                    Ok((stream, peer)) => {
                        connections.spawn(connection(stream, peer, Arc::clone(&world), origin));
                    }
                    // Out of descriptors, say: without a pause this loop would burn the processor until some are free.
                    Err(_) => clock::stall(Duration::from_millis(20)).await,
                }
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

/// How long a client may take to send the head of a request.
const HEADER_TIMEOUT: Duration = Duration::from_secs(60);

/// Serves one connection to its end, however it ends: clients and faults both break connections.
async fn connection(stream: TcpStream, peer: SocketAddr, world: Arc<World>, origin: Origin) {
    let _ = stream.set_nodelay(true);
    let serve = service_fn(move |request| {
        let world = Arc::clone(&world);
        async move {
            match origin {
                Origin::Api => pipeline::serve(world, peer.ip(), request).await,
                Origin::Storage => storage::serve(world, request).await,
            }
        }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEADER_TIMEOUT);
    let _ = http.serve_connection(TokioIo::new(stream), serve).await;
}
