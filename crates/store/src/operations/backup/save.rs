//! Saves a mirror whose file was deleted or replaced: its content is reachable only as long as this process has it open.

use std::path::PathBuf;

use super::{INBOX, MIRROR, begin_draft, failed, refused, rename, sync};
use crate::{
    Error, Store,
    connect::{
        address::beside,
        file_watch::SAVED,
        permissions::{create_private, folder_of, hand_over},
    },
    driver::Database,
};

impl Store {
    /// Copies a SQLite mirror that has lost its file into a backup beside where it was; returns the backup's folder.
    ///
    /// # Errors
    /// When the folder is gone too, or its disk is full.
    pub async fn save_lost_files(&self) -> Result<Option<PathBuf>, Error> {
        let Some(file) = self.file() else { return Ok(None) };
        let now = self.clock.now().format("%Y%m%dT%H%M%SZ");
        let into = beside(file, &format!("{SAVED}{now}"));
        let draft = beside(&into, ".partial");
        let _ours = begin_draft(&draft)?;
        for (database, name) in [(&self.database, MIRROR), (&self.inbox, INBOX)] {
            // The writer's connection is the only one that is certain to have the lost file open.
            let Database::Sqlite { write, .. } = database else { continue };
            let to = draft.join(name);
            create_private(&to).map_err(failed("make", &to))?;
            let copied =
                sqlx::query("VACUUM INTO ?").bind(to.display().to_string()).execute(&*write.pool()).await;
            copied.map_err(refused("copy the database"))?;
            sync(&to)?;
            hand_over(&to).map_err(failed("change the owner of", &to))?;
        }
        sync(&draft)?;
        hand_over(&draft).map_err(failed("change the owner of", &draft))?;
        rename(&draft, &into)?;
        sync(folder_of(&into))?;
        Ok(Some(into))
    }
}
