//! The open connections: how many there may be, how long each may take, and which one must go at the limit.
//!
//! A connection has no timer of its own. Each has a deadline, and one task ends those that are past theirs: ten
//! thousand silent sockets then cost nothing but themselves.

use parking_lot::{Mutex, MutexGuard};
use std::{
    collections::{BTreeMap, HashMap},
    net::{IpAddr, Ipv6Addr},
    sync::{
        Arc,
        atomic::{AtomicU8, AtomicU64, Ordering},
    },
    time::Duration,
};

use espelho_model::Clock;
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;

/// How often deadlines are checked.
const SWEEP: Duration = Duration::from_millis(200);

/// Waiting for the first byte of a request.
const WAITING: u8 = 0;
/// In the head of a request.
const HEAD: u8 = 1;
/// In the body of a request, or answering it.
const REQUEST: u8 = 2;

/// How many connections there may be, and how long each may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ConnectionLimits {
    /// Connections in all.
    pub(super) connections: usize,
    /// Connections from one address; those from this machine, where a proxy may be, are not counted.
    pub(super) connections_per_address: usize,
    /// Time until the head of a request is complete.
    pub(super) header: Duration,
    /// Time until the whole request is answered.
    pub(super) request: Duration,
    /// Time until the next request of a connection begins.
    pub(super) idle: Duration,
}

/// All open connections.
pub(super) struct Connections {
    limits: ConnectionLimits,
    clock: Arc<dyn Clock>,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    next: u64,
    /// By age.
    all: BTreeMap<u64, Arc<Connection>>,
    /// Connections that may have to go: those that have not yet delivered with a valid signature, by age.
    unproven: BTreeMap<u64, Option<AbortHandle>>,
    proven: BTreeMap<u64, Option<AbortHandle>>,
    by_address: HashMap<IpAddr, usize>,
}

/// One connection.
pub(super) struct Connection {
    id: u64,
    address: Option<IpAddr>,
    clock: Arc<dyn Clock>,
    limits: ConnectionLimits,
    phase: AtomicU8,
    /// On the monotonic clock, in milliseconds.
    deadline: AtomicU64,
    /// When the first byte of the request came.
    began: AtomicU64,
    all: std::sync::Weak<Connections>,
}

/// Removes the connection from the list when its task ends, however it ends.
pub(super) struct Registered(pub(super) Arc<Connection>);

/// The reason why a connection is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Its address has its maximum number of connections.
    Address,
    /// The limit is reached, and all open connections have proven to be the marketplace's.
    Full,
}

impl Connections {
    pub(super) fn new(limits: ConnectionLimits, clock: Arc<dyn Clock>) -> Arc<Self> {
        Arc::new(Self { limits, clock, open: Mutex::default() })
    }

    /// Admits a connection. At the limit, the oldest connection that has not proven itself goes: it had the longest
    /// time to do so.
    pub(super) fn admit(self: &Arc<Self>, peer: IpAddr) -> Result<Registered, Refusal> {
        let address = counted(peer);
        let mut open = self.open();
        if let Some(address) = address
            && open.by_address.get(&address).copied().unwrap_or(0) >= self.limits.connections_per_address
        {
            return Err(Refusal::Address);
        }
        if open.all.len() >= self.limits.connections && !open.evict() {
            return Err(Refusal::Full);
        }
        let id = open.next;
        open.next += 1;
        let connection = Arc::new(Connection {
            id,
            address,
            clock: Arc::clone(&self.clock),
            limits: self.limits,
            phase: AtomicU8::new(HEAD),
            // A new connection is expected to send a request.
            deadline: AtomicU64::new(milliseconds(self.clock.monotonic() + self.limits.header)),
            began: AtomicU64::new(milliseconds(self.clock.monotonic())),
            all: Arc::downgrade(self),
        });
        open.all.insert(id, Arc::clone(&connection));
        open.unproven.insert(id, None);
        if let Some(address) = address {
            *open.by_address.entry(address).or_default() += 1;
        }
        Ok(Registered(connection))
    }

    /// Ends the oldest connection that has not proven itself; returns whether there was one.
    pub(super) fn evict(&self) -> bool {
        self.open().evict()
    }

    /// Registers the task that serves a connection, so that it can be ended.
    pub(super) fn served_by(&self, id: u64, task: AbortHandle) {
        let mut open = self.open();
        let Open { unproven, proven, .. } = &mut *open;
        match unproven.get_mut(&id).or_else(|| proven.get_mut(&id)) {
            Some(entry) => *entry = Some(task),
            // The connection was evicted before its task was registered.
            None => task.abort(),
        }
    }

    /// Returns the number of open connections.
    pub(super) fn len(&self) -> usize {
        self.open().all.len()
    }

    /// Ends connections that are past their deadline until `stop` is cancelled.
    pub(super) async fn keep_deadlines(self: Arc<Self>, stop: CancellationToken) {
        loop {
            tokio::select! { () = self.clock.sleep(SWEEP) => self.sweep(), () = stop.cancelled() => return }
        }
    }

    fn sweep(&self) {
        let now = milliseconds(self.clock.monotonic());
        let mut open = self.open();
        let late = |connection: &&Arc<Connection>| connection.deadline.load(Ordering::Relaxed) <= now;
        let late: Vec<u64> = open.all.values().filter(late).map(|connection| connection.id).collect();
        for id in late {
            open.end(id);
        }
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock()
    }
}

impl Open {
    fn evict(&mut self) -> bool {
        match self.unproven.keys().next().copied() {
            Some(oldest) => {
                self.end(oldest);
                true
            }
            None => false,
        }
    }

    /// Ends a connection's task, and with it its socket, now instead of when the task is next polled.
    fn end(&mut self, id: u64) {
        let task = self.unproven.remove(&id).or_else(|| self.proven.remove(&id));
        if let Some(Some(task)) = task {
            task.abort();
        }
        self.forget(id);
    }

    fn forget(&mut self, id: u64) {
        self.unproven.remove(&id);
        self.proven.remove(&id);
        let Some(connection) = self.all.remove(&id) else { return };
        let Some(address) = connection.address else { return };
        if let Some(count) = self.by_address.get_mut(&address) {
            *count -= 1;
            if *count == 0 {
                self.by_address.remove(&address);
            }
        }
    }
}

impl Connection {
    pub(super) fn id(&self) -> u64 {
        self.id
    }

    /// Notes that bytes came: if the connection waited for a request, the request has begun.
    pub(super) fn bytes_came(&self) {
        if self.phase.compare_exchange(WAITING, HEAD, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            self.began.store(milliseconds(self.clock.monotonic()), Ordering::Relaxed);
            self.end_after(self.limits.header);
        }
    }

    /// Notes that the head of a request has been read; returns the rest of the whole request's time.
    pub(super) fn request_began(&self) -> Duration {
        let now = self.clock.monotonic();
        if self.phase.swap(REQUEST, Ordering::Relaxed) == WAITING {
            // Its bytes came with those of the previous request.
            self.began.store(milliseconds(now), Ordering::Relaxed);
        }
        let began = Duration::from_millis(self.began.load(Ordering::Relaxed));
        let left = (began + self.limits.request).saturating_sub(now);
        // An answer that is due at that moment gets a little time to be written.
        self.end_after(left + SWEEP);
        left
    }

    /// Notes that the request is answered; the next one may come.
    pub(super) fn request_ended(&self) {
        self.end_after(self.limits.idle);
        self.phase.store(WAITING, Ordering::Relaxed);
    }

    /// Notes that the connection delivered with a valid signature: it is the marketplace's.
    pub(super) fn proven(&self) {
        let Some(all) = self.all.upgrade() else { return };
        let mut open = all.open();
        if let Some(task) = open.unproven.remove(&self.id) {
            open.proven.insert(self.id, task);
        }
    }

    /// Notes that the connection may have to go again: it waits for a request.
    pub(super) fn rests(&self) {
        let Some(all) = self.all.upgrade() else { return };
        let mut open = all.open();
        if let Some(task) = open.proven.remove(&self.id) {
            open.unproven.insert(self.id, task);
        }
    }

    fn end_after(&self, duration: Duration) {
        self.deadline.store(milliseconds(self.clock.monotonic() + duration), Ordering::Relaxed);
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        if let Some(all) = self.0.all.upgrade() {
            all.open().forget(self.0.id);
        }
    }
}

/// Returns the address that a connection counts for. Behind a proxy on this machine all connections come from one
/// address; and a client with one IPv6 address has 2^64.
fn counted(peer: IpAddr) -> Option<IpAddr> {
    let peer = peer.to_canonical();
    if peer.is_loopback() {
        return None;
    }
    Some(match peer {
        IpAddr::V4(_) => peer,
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into(),
    })
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
#[path = "tests/connections.rs"]
mod tests;
