//! The connections that are open: how many there may be, how long each may take, and who must go when it is full.
//!
//! A connection has no timer of its own. Each carries a deadline, and one task ends those that are past theirs: ten
//! thousand silent sockets then cost nothing but themselves.

use std::{
    collections::{BTreeMap, HashMap},
    net::{IpAddr, Ipv6Addr},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU8, AtomicU64, Ordering},
    },
    time::Duration,
};

use espelho_model::Clock;
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;

use super::Limits;

/// How often deadlines are looked at.
const SWEEP: Duration = Duration::from_millis(200);

/// Waiting for the first byte of a request.
const WAITING: u8 = 0;
/// In the head of a request.
const HEAD: u8 = 1;
/// In the body of a request, or answering it.
const REQUEST: u8 = 2;

/// All connections that are open.
pub(super) struct Connections {
    limits: Limits,
    clock: Arc<dyn Clock>,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    next: u64,
    /// By their age.
    all: BTreeMap<u64, Arc<Connection>>,
    /// Those that have not yet brought a delivery with a right signature, by their age.
    unproven: BTreeMap<u64, Option<AbortHandle>>,
    proven: BTreeMap<u64, Option<AbortHandle>>,
    by_address: HashMap<IpAddr, usize>,
}

/// One connection.
pub(super) struct Connection {
    id: u64,
    address: Option<IpAddr>,
    clock: Arc<dyn Clock>,
    limits: Limits,
    phase: AtomicU8,
    /// On the monotonic clock, in milliseconds.
    deadline: AtomicU64,
    /// When the first byte of the request came.
    began: AtomicU64,
    all: std::sync::Weak<Connections>,
}

/// Takes the connection off the list when its task ends, however it ends.
pub(super) struct Registered(pub(super) Arc<Connection>);

/// Why a connection is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Its address has as many as it may have.
    Address,
    /// There is no room, and everybody here has proven to be the marketplace.
    Full,
}

impl Connections {
    pub(super) fn new(limits: Limits, clock: Arc<dyn Clock>) -> Arc<Self> {
        Arc::new(Self { limits, clock, open: Mutex::default() })
    }

    /// Takes a connection in. Where there is no room, the oldest one that has not proven itself goes: it has had the
    /// longest time to do so.
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
            // A new connection has something to say.
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

    /// Lets go of the oldest connection that has not proven itself; whether there was one.
    pub(super) fn evict(&self) -> bool {
        self.open().evict()
    }

    /// Says which task serves a connection, so that it can be ended.
    pub(super) fn served_by(&self, id: u64, task: AbortHandle) {
        let mut open = self.open();
        let Open { unproven, proven, .. } = &mut *open;
        match unproven.get_mut(&id).or_else(|| proven.get_mut(&id)) {
            Some(entry) => *entry = Some(task),
            // It had to make room before anybody knew its task.
            None => task.abort(),
        }
    }

    /// How many connections are open.
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
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// Ends a connection's task, and with it its socket, now rather than when the task is next looked at.
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

    /// Bytes came: where a request was waited for, it has begun.
    pub(super) fn bytes_came(&self) {
        if self.phase.compare_exchange(WAITING, HEAD, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            self.began.store(milliseconds(self.clock.monotonic()), Ordering::Relaxed);
            self.end_after(self.limits.header);
        }
    }

    /// The head of a request has been read; gives what is left of the whole request's time.
    pub(super) fn request_began(&self) -> Duration {
        let now = self.clock.monotonic();
        if self.phase.swap(REQUEST, Ordering::Relaxed) == WAITING {
            // Its bytes came with those of the request before.
            self.began.store(milliseconds(now), Ordering::Relaxed);
        }
        let began = Duration::from_millis(self.began.load(Ordering::Relaxed));
        let left = (began + self.limits.request).saturating_sub(now);
        // An answer that is due then is given a moment to be written.
        self.end_after(left + SWEEP);
        left
    }

    /// The request is answered; the next may come.
    pub(super) fn request_ended(&self) {
        self.end_after(self.limits.idle);
        self.phase.store(WAITING, Ordering::Relaxed);
    }

    /// It has brought a delivery with a right signature: it is the marketplace's.
    pub(super) fn proven(&self) {
        let Some(all) = self.all.upgrade() else { return };
        let mut open = all.open();
        if let Some(task) = open.unproven.remove(&self.id) {
            open.proven.insert(self.id, task);
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

/// The address that a connection counts for. Behind a proxy of this machine all of them come from one address; and
/// whoever has one address of IPv6 has 2^64.
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
