//! The webhook receiver: `POST /webhooks/KEY` on a listener of its own, and nothing else.
//!
//! The path of a delivery: `socket` or `listener` accepts it, `http::connections` bounds how many there are and how long
//! each may take, `deliver` checks one request (`secrets`, `event`), `commit` writes it with its neighbours, and only then
//! is it acknowledged. The receiver does not interpret it: it waits in the inbox, and its store's task is woken.

mod commit;
mod deliver;
mod event;
mod listener;
mod measure;
mod secrets;
mod socket;
mod tls;
mod wakers;
mod warnings;

#[cfg(test)]
mod tests;

use std::{
    io,
    net::SocketAddr,
    sync::{Arc, Weak},
    time::Duration,
};

use espelho_model::{Clock, StoreKey, text, text::Text, watch};
use espelho_store::Store;
use secrecy::SecretString;
use tokio::{net::TcpListener, task::JoinHandle};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    config::Configuration,
    health::Health,
    http::connections::{ConnectionLimits, Connections},
};
pub(crate) use measure::ACK_BUCKETS;
pub(crate) use socket::listen;
pub(crate) use tls::{Tls, TlsFiles};
pub(crate) use wakers::{StoreWakers, WakerRegistry};

/// How often the age of the inbox is measured.
const MEASURE_INTERVAL: Duration = Duration::from_secs(10);

/// The receiver's limits: what it takes at most, and how long it waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Connections in all.
    pub connections: usize,
    /// Connections from one address; connections from this machine, where a proxy may be, are not counted.
    pub connections_per_address: usize,
    /// Time until the head of a request is complete.
    pub header: Duration,
    /// Time until the whole request is answered.
    pub request: Duration,
    /// Time until the next request of a connection begins.
    pub idle: Duration,
    /// Deliveries that wait for the disk.
    pub queue: usize,
    /// Bytes of bodies that are being read or wait for the disk.
    pub queue_bytes: usize,
}

impl Limits {
    fn of_connections(self) -> ConnectionLimits {
        let Self { connections, connections_per_address, header, request, idle, .. } = self;
        ConnectionLimits { connections, connections_per_address, header, request, idle }
    }
}

/// The stores that receive webhooks, each with its configured secret.
pub(crate) type Receiving = Vec<(StoreKey, Option<SecretString>)>;

/// The receiver's socket, and its certificate if there is one.
pub(crate) type BoundSocket = (TcpListener, Option<Tls>);

/// The receiver cannot be opened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenError {
    /// Its certificate cannot be read.
    #[error("{0}")]
    Certificate(Text),
    /// Nothing can listen there.
    #[error("webhooks.listen {0} cannot be used ({1}); stop what listens there or choose another port")]
    Listen(SocketAddr, io::Error),
}

/// Opens the receiver's socket and certificate, if a store receives webhooks.
pub(crate) fn open(configuration: &Configuration) -> Result<Option<BoundSocket>, OpenError> {
    if configuration.stores.iter().all(|store| store.webhook.is_none()) {
        return Ok(None);
    }
    let section = &configuration.installation.webhooks;
    let tls = section.tls().map(Tls::load).transpose();
    let tls =
        tls.map_err(|error| OpenError::Certificate(text!("run-certificate", problem = error.to_string())))?;
    let listener = listen(section.listen).map_err(|error| OpenError::Listen(section.listen, error))?;
    Ok(Some((listener, tls)))
}

/// A running receiver.
pub(crate) struct Webhooks {
    stop: CancellationToken,
    /// Ends the watch over the connections, once there are none.
    done: CancellationToken,
    receiver: Arc<deliver::Receiver>,
    tls: Option<Arc<Tls>>,
    serving: TaskTracker,
    accepting: JoinHandle<()>,
    writing: JoinHandle<()>,
}

impl Webhooks {
    /// Starts to receive on a listener that is bound already.
    pub(crate) fn start(
        listener: TcpListener,
        tls: Option<Tls>,
        limits: Limits,
        stores: Receiving,
        (wakers, health): (Arc<WakerRegistry>, Arc<Health>),
        (store, clock): (Store, Arc<dyn Clock>),
    ) -> Self {
        let (stop, done) = (CancellationToken::new(), CancellationToken::new());
        let (queue, writing) = commit::queue(limits.queue, limits.queue_bytes, store.clone(), wakers);
        let secrets = secrets::Secrets::new(store.clone(), Arc::clone(&clock), stores);
        let limits = Limits { connections: socket::affordable(limits.connections), ..limits };
        let connections = Connections::new(limits.of_connections(), Arc::clone(&clock));
        tokio::spawn(Arc::clone(&connections).keep_deadlines(done.clone()));
        let receiver = Arc::new(deliver::Receiver {
            secrets,
            queue,
            health,
            clock: Arc::clone(&clock),
            misled: warnings::Warning::default(),
        });
        // A weak reference, so that the measuring task does not keep the queue open.
        let on = (store, Arc::clone(&clock));
        tokio::spawn(measure_all(Arc::downgrade(&receiver), Arc::clone(&connections), on, stop.clone()));
        let tls = tls.map(Arc::new);
        if let Some(tls) = &tls {
            tokio::spawn(Arc::clone(tls).keep_fresh(clock, stop.clone()));
        }
        let server = listener::ConnectionServer {
            receiver: Arc::clone(&receiver),
            connections,
            tls: tls.clone(),
            stop: stop.clone(),
            serving: TaskTracker::new(),
        };
        let serving = server.serving.clone();
        let accepting = watch::lane("receiver", Arc::new(server).accept_all(listener));
        let (accepting, writing) =
            (tokio::spawn(accepting), tokio::spawn(watch::lane("inbox_writer", writing)));
        Self { stop, done, receiver, tls, serving, accepting, writing }
    }

    /// Receives for these stores from now on; a delivery under way keeps its earlier rules.
    pub(crate) fn serve(&self, stores: Receiving) {
        self.receiver.secrets.replace(stores);
    }

    /// Checks the certificate's files now.
    pub(crate) fn refresh_certificate(&self) {
        self.tls.iter().for_each(|tls| tls.look_again());
    }

    /// Resolves when the receiver no longer works though nobody has stopped it.
    pub(crate) async fn failed(&mut self) {
        tokio::select! { _ = &mut self.accepting => {}, _ = &mut self.writing => {} }
    }

    /// Accepts no more, finishes the requests under way, and ends when everything is written.
    pub(crate) async fn stop(self) {
        self.stop.cancel();
        // A task that panicked has ended too, and a task whose end was observed cannot be awaited again.
        if !self.accepting.is_finished() {
            let _ = self.accepting.await;
        }
        self.serving.close();
        self.serving.wait().await;
        self.done.cancel();
        drop(self.receiver);
        if !self.writing.is_finished() {
            let _ = self.writing.await;
        }
    }
}

/// Measures repeatedly how long the oldest delivery of each store has been waiting.
async fn measure_all(
    receiver: Weak<deliver::Receiver>,
    connections: Arc<Connections>,
    (store, clock): (Store, Arc<dyn Clock>),
    stop: CancellationToken,
) {
    loop {
        measure::connections(connections.len());
        let stores = receiver.upgrade().map(|receiver| receiver.secrets.stores()).unwrap_or_default();
        match store.inbox().oldest_by_store().await {
            Ok(oldest) => {
                for key in &stores {
                    let waiting = oldest.get(key.as_str());
                    let age = waiting.and_then(|&oldest| (clock.now() - oldest).to_std().ok());
                    measure::inbox_age(key, age.unwrap_or_default());
                }
            }
            Err(error) => tracing::debug!(%error, "cannot read the inbox's age"),
        }
        tokio::select! { () = clock.sleep(MEASURE_INTERVAL) => {}, () = stop.cancelled() => return }
    }
}
