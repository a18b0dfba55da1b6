//! The listening socket: systemd's if systemd owns the port, else our own.

use std::{io, net::SocketAddr};

use listenfd::ListenFd;
use tokio::net::{TcpListener, TcpSocket};

/// Descriptors that are reserved for everything except connections.
const KEPT_FREE: usize = 192;
/// Connections that wait to be accepted; a client that exceeds this number tries again after a second.
const BACKLOG: u32 = 4_096;

/// Returns the socket that systemd holds (`espelho.socket`), in which deliveries wait while the service restarts; else
/// a new one on `address`.
pub(crate) fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    match inherited()? {
        Some(listener) => Ok(listener),
        None => bind(address),
    }
}

fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // The port of a killed service is free at once.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Returns how many connections there may be, so that descriptors remain for the database and the marketplace.
pub(super) fn affordable(wanted: usize) -> usize {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let Some(descriptors) = descriptors(&limits) else { return wanted };
    let affordable = leaving_enough(wanted, descriptors);
    if affordable < wanted {
        tracing::warn!(
            wanted,
            affordable,
            descriptors,
            "fewer webhook connections than configured: raise LimitNOFILE"
        );
    }
    affordable
}

fn leaving_enough(wanted: usize, descriptors: usize) -> usize {
    wanted.min(descriptors - KEPT_FREE.min(descriptors / 2))
}

/// Returns this process's soft limit from Linux's table of limits.
fn descriptors(limits: &str) -> Option<usize> {
    limits
        .lines()
        .find_map(|line| line.strip_prefix("Max open files")?.split_whitespace().next()?.parse().ok())
}

/// Returns the first socket that systemd passed on, if any.
fn inherited() -> io::Result<Option<TcpListener>> {
    let Some(listener) = ListenFd::from_env().take_tcp_listener(0)? else { return Ok(None) };
    listener.set_nonblocking(true)?;
    TcpListener::from_std(listener).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_descriptors_for_the_rest() {
        let limits = "Limit                     Soft Limit           Hard Limit           Units     \n\
            Max processes             95000                95000                processes \n\
            Max open files            1024                 524288               files     \n";
        assert_eq!(descriptors(limits), Some(1_024));
        assert_eq!(
            descriptors("Max open files            unlimited            unlimited            files"),
            None
        );
        assert_eq!(descriptors(""), None);
        assert_eq!(
            (leaving_enough(2_048, 4_096), leaving_enough(2_048, 1_024), leaving_enough(2_048, 64)),
            (2_048, 832, 32)
        );
    }

    #[tokio::test]
    async fn without_systemd_the_port_is_our_own() {
        let first = listen(([127, 0, 0, 1], 0).into()).unwrap();
        let taken = listen(first.local_addr().unwrap());
        assert_eq!(taken.unwrap_err().kind(), io::ErrorKind::AddrInUse);
    }
}
