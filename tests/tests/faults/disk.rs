//! A full disk, simulated by a small file system in memory, which only root can mount.

use std::{fs, path::Path, process::Command};

use espelho_tests::{Kind, Surface};

use crate::stage::{Setting, Stage};

/// A separate file system; dropping it unmounts it.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    /// Returns `None` if this user may not mount one.
    fn mount(mebibytes: usize) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let size = format!("size={mebibytes}m");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &size, "tmpfs"])
            .arg(folder.path())
            .output()
            .ok()?;
        mounted.status.success().then_some(Self(folder))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Fills the disk.
    fn fill(&self) {
        use std::io::Write as _;
        let mut file = fs::File::create(self.path().join("full")).unwrap();
        let block = vec![1; 1 << 16];
        while file.write_all(&block).is_ok() {}
        while file.write_all(&[1]).is_ok() {}
    }

    fn make_room(&self) {
        fs::remove_file(self.path().join("full")).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // The service may still be ending.
        let _ = Command::new("umount").arg("--lazy").arg(self.path()).status();
    }
}

// Exercises F096, F134
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_is_named_and_forgotten_once_there_is_room() {
    let Some(disk) = SmallDisk::mount(256) else {
        eprintln!("not shown here: only root can mount a small disk");
        return;
    };
    let stage =
        Stage::with(Kind::Sqlite, Setting { state: Some(disk.path().to_owned()), ..Setting::default() })
            .await;
    disk.fill();
    // The view is on that disk, so it cannot be updated either.
    // Deliveries are refused meanwhile, the test delivery among them.
    let mut watch = stage
        .watch("disk full", "disk_full")
        .beside(&["late", "webhooks_missing"])
        .unseen_on(&[Surface::View]);
    watch.raised().await;
    disk.make_room();
    watch.ends();
    watch.cleared().await;
}
