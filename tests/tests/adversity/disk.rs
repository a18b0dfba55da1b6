//! A full disk, and a disk that does not keep its promises: a library between the service and the C library simulates
//! them.

use std::{net::SocketAddr, path::PathBuf, process::Command};

use espelho_tests::{Installation, Kind, Running, Shop, truth, until};

use crate::receiving::{ask, bodies, listening_at, paid, prepare, signed};

/// Files named `full` and `broken` in the folder that `ADVERSITY` names set the state of the disk.
const LIBRARY: &str = r#"
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int is(const char *what) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", getenv("ADVERSITY"), what);
    return syscall(SYS_faccessat, AT_CWD, path, F_OK) == 0;
}

static int refused(int fd) {
    struct stat about;
    if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode) || !is("full")) return 0;
    errno = ENOSPC;
    return 1;
}

static int lost(void) {
    if (!is("broken")) return 0;
    errno = EIO;
    return 1;
}

ssize_t write(int fd, const void *from, size_t size) {
    return refused(fd) ? -1 : syscall(SYS_write, fd, from, size);
}

ssize_t pwrite64(int fd, const void *from, size_t size, off64_t at) {
    return refused(fd) ? -1 : syscall(SYS_pwrite64, fd, from, size, at);
}

ssize_t pwrite(int fd, const void *from, size_t size, off_t at) { return pwrite64(fd, from, size, at); }

int fsync(int fd) { return lost() ? -1 : syscall(SYS_fsync, fd); }

int fdatasync(int fd) { return lost() ? -1 : syscall(SYS_fdatasync, fd); }
"#;

/// A service that receives webhooks, and its disk.
struct World {
    _shop: Shop,
    installation: Installation,
    service: Running,
    pages: String,
    webhooks: SocketAddr,
}

impl World {
    async fn begin() -> Self {
        let listen = "listen = \"127.0.0.1:0\"\n[schedule]\nreconcile = \"* * * * * *\"\n";
        let (shop, installation) = prepare(Kind::Sqlite, listen).await;
        let folder = installation.dir();
        let (source, library) = (folder.join("disk.c"), folder.join("disk.so"));
        std::fs::write(&source, LIBRARY.replace("AT_CWD", "-100")).unwrap();
        let built = Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&library, &source]).output();
        let built = built.unwrap();
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        let mut command = installation.command(&["run"]);
        command.env("LD_PRELOAD", &library).env("ADVERSITY", folder);
        let mut service = Running::of(command);
        let mut listening = Vec::new();
        until("it listens twice", async || {
            assert!(!service.has_ended(), "the service has ended");
            listening = listening_at(service.id());
            listening.len() == 2
        })
        .await;
        let probe = b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n";
        if ask(listening[0], probe).await.is_none_or(|(status, _)| status != 200) {
            listening.reverse();
        }
        let (pages, webhooks) = (format!("http://{}", listening[0]), listening[1]);
        let world = Self { _shop: shop, installation, service, pages, webhooks };
        until("it is ready", async || world.page("readyz").await.0 == 200).await;
        world
    }

    async fn page(&self, name: &str) -> (u16, String) {
        truth::get(&format!("{}/{name}", self.pages)).await
    }

    async fn delivery(&self, number: u32) -> Option<u16> {
        ask(self.webhooks, signed(&paid(number)).as_bytes()).await.map(|(status, _)| status)
    }

    fn disk(&self, is: &str) -> PathBuf {
        self.installation.dir().join(is)
    }
}

// withstands: F096
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_a_full_disk_deliveries_are_refused_pages_answer_and_all_goes_on_once_there_is_room() {
    let world = World::begin().await;
    assert_eq!(world.delivery(1).await, Some(200));
    std::fs::write(world.disk("full"), "").unwrap();
    assert_eq!(world.delivery(2).await, Some(503));
    assert_eq!(world.page("livez").await.0, 200);
    let (status, text) = world.page("status").await;
    assert!(status == 200 && text.contains("loja-1"), "{text}");
    std::fs::remove_file(world.disk("full")).unwrap();
    until("deliveries are taken again", async || world.delivery(2).await == Some(200)).await;
    until("it is ready again", async || world.page("readyz").await.0 == 200).await;
    assert_eq!(bodies(&world.installation).await, [paid(1), paid(2)].into());
    world.service.terminate().await;
    world.service.end().await.expect(0);
}

// withstands: F100, F102
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_disk_refuses_to_synchronise_is_not_acknowledged_and_ends_the_service() {
    let world = World::begin().await;
    assert_eq!(world.delivery(1).await, Some(200));
    std::fs::write(world.disk("broken"), "").unwrap();
    assert_ne!(world.delivery(2).await, Some(200));
    world.service.end().await.expect(1).says("refused to synchronise");
    // The next service reads the same data again.
    let again = world.installation.start(&["run"]);
    until("it listens twice", async || listening_at(again.id()).len() == 2).await;
    assert!(bodies(&world.installation).await.contains(&paid(1)));
    again.terminate().await;
    again.end().await.expect(0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_is_deleted_under_the_service_ends_it_and_nothing_acknowledged_is_lost() {
    let world = World::begin().await;
    assert_eq!(world.delivery(1).await, Some(200));
    let file = world.installation.dir().join("espelho.db");
    for suffix in ["", "-wal", "-shm", "-inbox", "-inbox-wal", "-inbox-shm"] {
        std::fs::remove_file(format!("{}{suffix}", file.display())).unwrap();
    }
    // It may come before or after the service notices; only the acknowledgement counts.
    let late = world.delivery(2).await;
    world.service.end().await.expect(1).says("was deleted or replaced").says("espelho restore --replace");
    // The next start makes no new database in silence.
    let refused = world.installation.run(&["run"]).await.expect(1).says("saved its content in");
    let copy = refused.stderr.split("saved its content in ").nth(1).unwrap();
    let copy = copy.split_whitespace().next().unwrap().trim_end_matches('.').to_owned();
    world.installation.run(&["restore", "--replace", &copy]).await.expect(0);
    let kept = bodies(&world.installation).await;
    assert!(kept.contains(&paid(1)), "{kept:?}");
    assert!(late != Some(200) || kept.contains(&paid(2)), "{kept:?}");
}
