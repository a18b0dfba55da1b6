//! This process's use of the machine, for the report: it makes a run visible that costs more than the last one.

use serde::Serialize;

/// Ticks of `/proc/self/stat`; the same on every Linux that Rust supports.
const TICKS_PER_SECOND: f64 = 100.0;

/// CPU time and peak memory of this process.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Usage {
    /// User and system time, in seconds.
    pub(crate) cpu_seconds: f64,
    /// Largest resident size, in MiB.
    pub(crate) peak_memory_mib: f64,
}

/// Reads the usage; `None` without `/proc`.
pub(crate) fn now() -> Option<Usage> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The second field is the command in parentheses, which may contain spaces.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at)?.parse::<f64>().ok();
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: f64 = peak.split_whitespace().next()?.parse().ok()?;
    Some(Usage {
        cpu_seconds: (ticks(11)? + ticks(12)?) / TICKS_PER_SECOND,
        peak_memory_mib: (kib / 102.4).round() / 10.0,
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_process_knows_what_it_used() {
        let usage = super::now().unwrap();
        assert!(usage.peak_memory_mib > 0.5 && usage.cpu_seconds >= 0.0, "{usage:?}");
    }
}
