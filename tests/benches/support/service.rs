//! The service as a process of its own, asked from outside.
#![expect(clippy::disallowed_methods, reason = "a benchmark measures with the system's clock")]

use std::{
    fs,
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use super::{argument, cpu_seconds, espelho, memory, of_process};

/// The interval between two reads of the service.
pub(crate) const GLANCE: Duration = Duration::from_millis(250);

/// `espelho run`, killed when this is dropped.
pub(crate) struct Service {
    child: Child,
    address: SocketAddr,
    pub(crate) begun: Instant,
}

impl Service {
    /// Starts it, and waits until it serves its health page.
    pub(crate) fn start(dir: &Path, address: SocketAddr) -> Self {
        let mut command = Command::new(espelho());
        command.arg("--config").arg(dir).arg("run").current_dir(dir);
        command.env("ESPELHO__LOG__LEVEL", argument("--log").unwrap_or_else(|| "warn".to_owned()));
        let begun = Instant::now();
        let mut service = Self { child: command.stdout(Stdio::null()).spawn().unwrap(), address, begun };
        // The socket is bound before anything else, but served only after every store was requested.
        while service.try_ask("/livez").is_none() {
            assert!(service.child.try_wait().unwrap().is_none(), "the service has ended");
            std::thread::sleep(GLANCE);
        }
        service
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn try_ask(&self, path: &str) -> Option<(String, String)> {
        let mut stream = TcpStream::connect(self.address).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.address).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        let (head, body) = answer.split_once("\r\n\r\n")?;
        Some((head.to_owned(), body.to_owned()))
    }

    pub(crate) fn is_ready(&self) -> bool {
        self.try_ask("/readyz").is_some_and(|(head, _)| head.contains(" 200 "))
    }

    pub(crate) fn ask_and_tell(&self, path: &str) {
        let begun = Instant::now();
        let (head, body) = self.try_ask(path).unwrap();
        let (ms, status) = (begun.elapsed().as_millis(), head.lines().next().unwrap_or_default().to_owned());
        println!("  GET {path:<10} {ms:>6} ms {:>8} KiB  {status}", body.len() / 1_024);
    }

    /// Waits until requests stop falling. The sweeps that follow the first reconciliation are part of the start, so
    /// idle begins here.
    pub(crate) fn settle(&self) {
        let quiet = Duration::from_secs(argument("--settle").map_or(60, |seconds| seconds.parse().unwrap()));
        let begun = Instant::now();
        while begun.elapsed() < quiet {
            std::thread::sleep(GLANCE);
        }
        self.report("settled");
    }

    pub(crate) fn report(&self, when: &str) {
        let id = self.id();
        let files = fs::read_dir(format!("/proc/{id}/fd")).map_or(0, Iterator::count);
        let status = of_process(id, "status");
        let threads =
            status.lines().find_map(|line| line.strip_prefix("Threads:")).unwrap_or_default().trim();
        println!(
            "  {when:<14} after {:>6.1} s  {:>7.1} MiB now  {:>7.1} MiB peak  {:>7.1} CPU s  {files} descriptors  \
             {threads} threads",
            self.begun.elapsed().as_secs_f64(),
            memory(id, "VmRSS"),
            memory(id, "VmHWM"),
            cpu_seconds(id)
        );
    }

    pub(crate) fn stop(mut self) {
        let begun = Instant::now();
        espelho_tests::signals::send(self.id(), "TERM");
        let status = self.child.wait().unwrap();
        println!("  SIGTERM: {status} after {:.1} s", begun.elapsed().as_secs_f64());
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
