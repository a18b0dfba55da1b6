//! Pictures: searched for before they are sent, and never sent twice; a picture that is gone, or soon
//! will be, is uploaded again. `plan::push::media` decides.

use std::{path::PathBuf, sync::Arc, time::Duration};

use chrono::TimeDelta;
use espelho_api_client::{
    Client,
    resources::media::{MediaQuery, MediaSort, ProductImage, upload_request},
};
use espelho_model::{ContentHash, MediaId, text, text::Text};
use espelho_store::{Effect, EffectState};
use tokio::sync::Mutex;

use super::{
    command_context::{CommandContext, id_in},
    journal::{ExecutionResult, Journal},
    options::PushOptions,
    refused::refused,
};
use crate::{
    Error, StoreContext,
    plan::push::{
        Message, Verdict, doubtful,
        evidence::{Evidence as _, read as read_evidence},
        invalid,
        media::{UploadEvidence, may_be_removed},
    },
};

/// The largest file that is read; the marketplace takes 2 MB.
const LARGEST: u64 = 16 << 20;

/// How long an uploaded picture can be traced to the path of its file.
const UPLOAD_HISTORY: TimeDelta = TimeDelta::days(30);

/// A picture on the marketplace, or the verdict when it is not there.
pub(super) enum Uploaded {
    Is(MediaId),
    Not(Verdict),
}

/// Uploads pictures, one at a time.
pub(crate) struct ImageUploads<'c> {
    context: &'c StoreContext,
    options: &'c PushOptions,
    client: Client,
    journal: Arc<Journal<'c>>,
    /// Held while a picture is uploaded.
    uploading: Mutex<()>,
}

impl<'c> ImageUploads<'c> {
    /// Creates the uploads of a store. `client` reads what the marketplace has.
    pub(super) fn new(
        context: &'c StoreContext,
        options: &'c PushOptions,
        client: Client,
        journal: Arc<Journal<'c>>,
    ) -> Self {
        Self { context, options, client, journal, uploading: Mutex::default() }
    }

    /// Uploads a file for a command, unless the marketplace has it.
    pub(super) async fn upload(&self, cx: &CommandContext<'_>, path: &str) -> Result<Uploaded, Error> {
        let failed = |problem: Text| Ok(Uploaded::Not(Verdict::Failed(invalid(problem))));
        let bytes = match read(&self.options.files.join(PathBuf::from(path))).await {
            Ok(bytes) => bytes,
            Err(problem) => return failed(problem),
        };
        let fingerprint = fingerprint(&bytes);
        let image = match ProductImage::new(bytes) {
            Ok(image) => image,
            Err(error) => return failed(error.text()),
        };
        // One upload at a time, and none while another is unsettled: a new picture is then certainly that one.
        let Ok(_uploading) = self.uploading.try_lock() else {
            return Ok(Uploaded::Not(Verdict::RetryAfter(Duration::from_secs(1))));
        };
        // Asked for before the settled ones: an upload that is settled in between is then found among those.
        let open = self.context.store.journal().open_effects(&self.context.key).await?;
        if open.iter().any(|effect| effect.kind == UploadEvidence::KIND) {
            return Ok(Uploaded::Not(Verdict::RetryAfter(Duration::from_secs(1))));
        }
        if let Some(id) = self.uploaded_before(&fingerprint).await? {
            return Ok(Uploaded::Is(id));
        }
        let before: Vec<String> = self.newest().await?;
        let request = upload_request(&image);
        let evidence = UploadEvidence { before, path: Some(path.to_owned()) };
        let mut effect = cx.effect(&request, &evidence);
        effect.key = fingerprint;
        match self.journal.execute_once(effect, &cx.intent(), &request).await? {
            ExecutionResult::Applied(answer) => match id_in(answer.as_str()) {
                Some(id) => Ok(Uploaded::Is(MediaId::new(id))),
                None => Ok(Uploaded::Not(Verdict::Doubtful(doubtful("no_id")))),
            },
            ExecutionResult::Refused(error) => refused(error).map(Uploaded::Not),
            ExecutionResult::Unknown => Ok(Uploaded::Not(Verdict::RetryAfter(Duration::ZERO))),
        }
    }

    /// Returns the picture to use for an id: the same, unless it is one of ours that nothing uses yet and that the
    /// marketplace may soon remove.
    pub(super) async fn reupload_if_expiring(
        &self,
        cx: &CommandContext<'_>,
        id: &str,
    ) -> Result<Uploaded, Error> {
        let (store, now) = (&self.context.store, self.context.clock.now());
        let uploads = store
            .journal()
            .effects_since(&self.context.key, UploadEvidence::KIND, now - UPLOAD_HISTORY)
            .await?;
        let is_it = |effect: &&Effect| {
            effect.answer.as_deref().and_then(id_in).as_deref() == Some(id)
                && may_be_removed(None, effect.planned_at, now)
        };
        let is = Ok(Uploaded::Is(MediaId::new(id)));
        let Some(upload) = uploads.iter().find(is_it) else { return is };
        let path = read_evidence::<UploadEvidence>(upload).ok().and_then(|evidence| evidence.path);
        let Some(path) = path else { return is };
        match self.client.media().get(&MediaId::new(id)).await {
            Ok(image) if image.value.in_use == Some(true) => return is,
            Ok(_) => (),
            Err(error) if error.is_absent() => (),
            Err(error) => return Err(error.into()),
        }
        // Only the identical picture may replace it.
        match read(&self.options.files.join(PathBuf::from(&path))).await {
            Ok(bytes) if fingerprint(&bytes) == upload.key => self.upload(cx, &path).await,
            _ => is,
        }
    }

    /// Returns the picture of an earlier upload of the same bytes, if it still exists and stays.
    async fn uploaded_before(&self, fingerprint: &str) -> Result<Option<MediaId>, Error> {
        let effects = self.context.store.journal().effects_on(&self.context.key, fingerprint).await?;
        let Some(confirmed) = effects.iter().find(|effect| effect.state == EffectState::Confirmed) else {
            return Ok(None);
        };
        let Some(id) = confirmed.answer.as_deref().and_then(id_in).map(MediaId::new) else { return Ok(None) };
        match self.client.media().get(&id).await {
            Ok(image) => {
                let may_go =
                    may_be_removed(image.value.in_use, confirmed.planned_at, self.context.clock.now());
                Ok((!may_go).then_some(id))
            }
            Err(error) if error.is_absent() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) async fn newest(&self) -> Result<Vec<String>, Error> {
        let query = MediaQuery { sort: Some(MediaSort::NewestFirst), ..MediaQuery::default() };
        let page = self.client.media().list(&query).await?;
        Ok(page.rows.into_iter().map(|row| row.value.id.into_string()).collect())
    }
}

/// Returns the journal key of a file's upload: the same bytes are the same picture.
fn fingerprint(bytes: &[u8]) -> String {
    format!("media/{:016x}-{}", ContentHash::of(bytes).as_i64(), bytes.len())
}

/// The words for a command that names no picture.
pub(super) fn no_path() -> Message {
    invalid(text!("value-missing", field = "data.path", example = "{\"path\": \"foto.jpg\"}"))
}

async fn read(path: &std::path::Path) -> Result<Vec<u8>, Text> {
    let shown = || path.display().to_string();
    let message =
        |error: std::io::Error| text!("value-file-unreadable", path = shown(), problem = error.to_string());
    let metadata = tokio::fs::metadata(path).await.map_err(message)?;
    if !metadata.is_file() {
        return Err(text!("value-no-file", path = shown()));
    }
    if metadata.len() > LARGEST {
        return Err(text!("value-file-too-large", path = shown(), bytes = metadata.len()));
    }
    tokio::fs::read(path).await.map_err(message)
}
