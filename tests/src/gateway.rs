//! A port that forwards everything to the marketplace, and can be cut and restored.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpSocket, TcpStream},
    task::{AbortHandle, JoinSet},
};

/// A port in front of another one. While it is cut, nothing listens there, and every connection is closed.
#[derive(Debug)]
pub struct Gateway {
    address: SocketAddr,
    target: SocketAddr,
    serving: Arc<Mutex<Option<AbortHandle>>>,
    /// Reserves the port while nothing listens. Otherwise the system could give it to a connection, even to one that
    /// calls it.
    _keeper: TcpSocket,
}

impl Gateway {
    /// Opens a gateway to an address such as `http://127.0.0.1:8799`.
    ///
    /// # Panics
    /// When the address is invalid, or there is no free port.
    pub async fn to(base_url: &str) -> Self {
        let target = base_url.trim_start_matches("http://").parse().expect("an address with a port");
        let keeper = bound_to(SocketAddr::from(([127, 0, 0, 1], 0))).expect("a free port");
        let address = keeper.local_addr().expect("a bound port");
        let gateway = Self { address, target, serving: Arc::default(), _keeper: keeper };
        gateway.mend().await;
        gateway
    }

    /// Returns the address to use instead of the target's.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Cuts the gateway: connections are refused from now on.
    pub fn cut(&self) {
        if let Some(serving) = self.take() {
            serving.abort();
        }
    }

    /// Opens a cut gateway again, at the same address.
    ///
    /// # Panics
    /// When another process has taken the port.
    pub async fn mend(&self) {
        if self.serving.lock().unwrap_or_else(PoisonError::into_inner).is_some() {
            return;
        }
        let mut ticks = tokio::time::interval(std::time::Duration::from_millis(20));
        // The task that had the port may not have been dropped yet.
        for _ in 0..250 {
            ticks.tick().await;
            if let Ok(listener) = bound_to(self.address).and_then(|socket| socket.listen(1_024)) {
                return self.serve(listener);
            }
        }
        panic!("{} is taken", self.address);
    }

    fn serve(&self, listener: TcpListener) {
        let serving = tokio::spawn(pass_on(listener, self.target)).abort_handle();
        *self.serving.lock().unwrap_or_else(PoisonError::into_inner) = Some(serving);
    }

    fn take(&self) -> Option<AbortHandle> {
        self.serving.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.cut();
    }
}

/// Creates a socket that shares its address with others of this process; one of them may listen.
fn bound_to(address: SocketAddr) -> std::io::Result<TcpSocket> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    Ok(socket)
}

async fn pass_on(listener: TcpListener, target: SocketAddr) {
    // The connections end with this task.
    let mut connections = JoinSet::new();
    while let Ok((mut from, _)) = listener.accept().await {
        connections.spawn(async move {
            if let Ok(mut to) = TcpStream::connect(target).await {
                // Either side may end a connection at any time.
                let _ = copy_bidirectional(&mut from, &mut to).await;
            }
        });
        while connections.try_join_next().is_some() {}
    }
}
