//! Finds the process that listens on an address of this machine, from Linux's `/proc`.

use std::{
    fs,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::Path,
};

/// The state of a socket that listens, in the tables of `/proc/net`.
const LISTENING: &str = "0A";

/// A process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) id: u32,
    /// Its program, as Linux shows it: fifteen bytes at most.
    pub(super) name: String,
}

/// Returns the process that occupies `address`. Only root finds other users' processes.
pub(super) fn of(address: SocketAddr) -> Option<Process> {
    let inode = inode(address)?;
    let link = format!("socket:[{inode}]");
    fs::read_dir("/proc").ok()?.flatten().find_map(|entry| {
        let id = entry.file_name().to_str()?.parse().ok()?;
        has_open(&entry.path(), &link).then(|| Process { id, name: name_in(&entry.path()) })
    })
}

/// Tells whether somebody listens on `address`.
pub(super) fn is_taken(address: SocketAddr) -> bool {
    inode(address).is_some()
}

fn inode(address: SocketAddr) -> Option<u64> {
    let tables = ["/proc/self/net/tcp", "/proc/self/net/tcp6"].map(|table| fs::read_to_string(table).ok());
    tables.into_iter().flatten().find_map(|table| listening_inode(&table, address))
}

fn has_open(process: &Path, link: &str) -> bool {
    let Ok(descriptors) = fs::read_dir(process.join("fd")) else { return false };
    let is_it = |path: &Path| fs::read_link(path).is_ok_and(|target| target.as_os_str() == link);
    descriptors.flatten().any(|descriptor| is_it(&descriptor.path()))
}

fn name_in(process: &Path) -> String {
    fs::read_to_string(process.join("comm")).unwrap_or_default().trim_end().to_owned()
}

/// Returns the inode of the socket that listens in the way of `wanted`, from the text of `/proc/net/tcp` or `tcp6`.
fn listening_inode(table: &str, wanted: SocketAddr) -> Option<u64> {
    table.lines().find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (local, state, inode) = (fields.get(1)?, fields.get(3)?, fields.get(9)?);
        let is_in_the_way = *state == LISTENING && collides(address_in(local)?, wanted);
        is_in_the_way.then(|| inode.parse().ok()).flatten()
    })
}

/// Whether two sockets cannot listen at the same time.
fn collides(one: SocketAddr, other: SocketAddr) -> bool {
    let [first, second] = [one, other].map(|address| address.ip().to_canonical());
    let is_for_all = first.is_unspecified() || second.is_unspecified();
    one.port() == other.port() && (first == second || is_for_all)
}

/// Parses `0100007F:2253`: the address as words in the machine's byte order, the port as a number.
fn address_in(field: &str) -> Option<SocketAddr> {
    let (address, port) = field.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let word =
        |at: usize| Some(u32::from_str_radix(address.get(at * 8..at * 8 + 8)?, 16).ok()?.to_ne_bytes());
    let ip: IpAddr = match address.len() {
        8 => Ipv4Addr::from(word(0)?).into(),
        32 => {
            let words = [word(0)?, word(1)?, word(2)?, word(3)?].concat();
            Ipv6Addr::from(<[u8; 16]>::try_from(words).ok()?).into()
        }
        _ => return None,
    };
    Some((ip, port).into())
}

#[cfg(all(test, target_endian = "little"))]
mod tests {
    use super::*;

    const TCP: &str = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   \
        0: 0100007F:2253 0100007F:9C40 01 00000000:00000000 00:00000000 00000000     0        0 1001 1 0 20 4 30 10 -1\n   \
        1: 0100007F:2253 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1002 1 0 100 0 0 10 0\n   \
        2: 00000000:2254 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1003 1 0 100 0 0 10 0\n";
    const TCP6: &str = "  sl  local_address                         remote_address                        st tx_queue\n   \
        0: 00000000000000000000000001000000:2255 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 1004 1\n   \
        1: 00000000000000000000000000000000:2256 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 1005 1\n   \
        2: 0000000000000000FFFF00000100007F:2257 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 1006 1\n";

    #[test]
    fn the_socket_in_the_way_is_found_in_the_tables_of_linux() {
        for (table, wanted, inode) in [
            (TCP, "127.0.0.1:8787", Some(1002)),
            (TCP, "0.0.0.0:8787", Some(1002)),
            (TCP, "10.0.0.1:8787", None),
            (TCP, "10.0.0.1:8788", Some(1003)),
            (TCP, "127.0.0.1:8790", None),
            (TCP6, "[::1]:8789", Some(1004)),
            (TCP6, "[::2]:8789", None),
            (TCP6, "127.0.0.1:8790", Some(1005)),
            (TCP6, "127.0.0.1:8791", Some(1006)),
            ("", "127.0.0.1:8787", None),
            ("a b c\n1 2 3 0A 5 6 7 8 9 x\n", "127.0.0.1:8787", None),
        ] {
            assert_eq!(listening_inode(table, wanted.parse().unwrap()), inode, "{wanted}");
        }
    }

    #[test]
    fn a_listener_of_this_process_is_found_by_name() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let found = of(listener.local_addr().unwrap()).unwrap();
        assert_eq!(found.id, std::process::id());
        assert!(!found.name.is_empty());
    }
}
