//! Finds the process at the other end of a connection within this machine.

use std::fs;

/// Returns the process with an open connection between these ports of the loopback address, its own first. Its own
/// alone is not enough: connections to different servers may have the same.
pub fn process_at(ports: [u16; 2]) -> Option<u32> {
    let inode = inode_of(ports)?;
    let socket = format!("socket:[{inode}]");
    let processes =
        fs::read_dir("/proc").ok()?.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let has_it = |process: &u32| {
        let is_espelho =
            fs::read_to_string(format!("/proc/{process}/comm")).is_ok_and(|name| name.trim() == "espelho");
        let files = fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
        is_espelho
            && files
                .filter_map(|file| fs::read_link(file.path()).ok())
                .any(|link| link.as_os_str() == socket.as_str())
    };
    processes.into_iter().find(has_it)
}

fn inode_of(ports: [u16; 2]) -> Option<u64> {
    let table = fs::read_to_string("/proc/net/tcp").ok()?;
    table.lines().skip(1).find_map(|line| {
        let mut columns = line.split_whitespace().skip(1);
        let mut port = || u16::from_str_radix(columns.next()?.split(':').nth(1)?, 16).ok();
        let found = [port()?, port()?];
        (found == ports).then(|| columns.nth(6)?.parse().ok())?
    })
}
