//! Finds the process at the other end of a connection within this machine.

use std::fs;

/// Returns the process with an open connection from this port of the loopback address.
pub fn process_at(port: u16) -> Option<u32> {
    let inode = inode_of(port)?;
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

fn inode_of(port: u16) -> Option<u64> {
    let table = fs::read_to_string("/proc/net/tcp").ok()?;
    table.lines().skip(1).find_map(|line| {
        let mut columns = line.split_whitespace().skip(1);
        let local = columns.next()?.split(':').nth(1)?;
        let is_it = u16::from_str_radix(local, 16).is_ok_and(|found| found == port);
        is_it.then(|| columns.nth(7)?.parse().ok())?
    })
}
