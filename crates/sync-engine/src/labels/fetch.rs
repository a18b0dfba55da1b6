//! Fetches one label's file: requests an address, downloads, writes to disk, records it in the mirror.

use std::io;

use espelho_api_client::{Class, Client, Documented, Error as ApiError, FileRules, SignedUrl};
use espelho_model::{
    shipment::{FileKind, LabelFormat},
    text,
    text::Text,
    watch,
};
use espelho_store::{Error as StoreError, FetchedFile, Finished, LabelFolder, POISONED, ReadyLabel};

use super::{Labels, kind};
use crate::{Error, Problem, StoreContext, Trouble, error::ends_all, report::with_causes};

/// The largest label file: enough for hundreds of volumes.
const LARGEST: u64 = 20 << 20;
/// Addresses requested for one fetch: each is valid for 15 minutes, and an interrupted download restarts.
const ADDRESSES: u32 = 3;

/// The result of a fetch.
#[derive(Debug)]
pub(crate) enum Fetched {
    /// The file is stored; the host that it came from.
    Kept {
        /// The host.
        host: String,
    },
    /// The label changed or went, or the service stops: nothing is kept.
    Overtaken,
}

/// Why a file is missing.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The marketplace or the storage.
    Api(ApiError),
    /// The database.
    Store(StoreError),
    /// The disk.
    Disk(io::Error),
    /// The download is something else.
    NotALabel { wanted: FileKind, problem: &'static str },
    /// The label has no known shipment, and only a shipment's file can be requested.
    NoShipment,
    /// It is set aside.
    SetAside(Text),
}

impl From<ApiError> for Fault {
    fn from(error: ApiError) -> Self {
        Self::Api(error)
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Disk(error)
    }
}

/// Fetches one file. Wherever it is interrupted, it leaves nothing that could pass for a label.
pub(super) async fn fetch(
    context: &StoreContext,
    client: &Client,
    labels: &Labels,
    label: &ReadyLabel,
) -> Result<Fetched, Fault> {
    let shipment = label.shipment.as_ref().ok_or(Fault::NoShipment)?;
    let extension = kind_of(label).map_or("bin", FileKind::extension);
    let name = LabelFolder::name(&label.id, label.version, extension);
    let mut left = ADDRESSES;
    let (finished, host) = loop {
        left -= 1;
        let address = client.shipments().label_file(shipment, &label.id).await?.url;
        match download(context, client, labels, (label, &name), &address).await {
            Ok(finished) => break (finished, address.host().to_owned()),
            Err(Fault::Api(error)) if left > 0 && broke_off(&error) => {
                tracing::debug!(store = %context.key, label = %label.id, %error, "the download failed; requesting a new address");
            }
            Err(fault) => return Err(fault),
        }
    };
    let file = labels.folder.shown(&context.key, &name);
    let size = i64::try_from(finished.size).unwrap_or(i64::MAX);
    let fetched = FetchedFile { file, size, sha256: finished.sha256, host: host.clone() };
    let mut tx = context.store.begin(&context.lease).await?;
    let kept = tx.label_files().keep_label_file(&label.id, label.version, &fetched).await?;
    if kept {
        tx.label_files().clear_label_failures(vec![label.id.as_str().to_owned()]).await?;
    }
    tx.commit().await?;
    if kept {
        return Ok(Fetched::Kept { host });
    }
    labels.folder.remove(&context.key, &[fetched.file]).await?;
    Ok(Fetched::Overtaken)
}

async fn download(
    context: &StoreContext,
    client: &Client,
    labels: &Labels,
    (label, name): (&ReadyLabel, &str),
    address: &SignedUrl,
) -> Result<Finished, Fault> {
    // The download has its own time limit, longer than a lane may stand still.
    let _waiting = watch::idle();
    let rules = FileRules { hosts: labels.hosts.clone(), largest: LARGEST };
    let mut stream = client.signed_files().open(address, &rules).await?;
    let mut draft = labels.folder.draft(&context.key, name).await?;
    let mut ends = kind::FileEnds::default();
    while let Some(piece) = stream.chunk().await? {
        ends.take(&piece);
        draft = draft.write(&piece).await?;
    }
    if let Some(wanted) = kind_of(label) {
        let checked = ends.check(wanted, stream.length.is_some());
        checked.map_err(|problem| Fault::NotALabel { wanted, problem })?;
    }
    Ok(draft.finish(name).await?)
}

fn kind_of(label: &ReadyLabel) -> Option<FileKind> {
    label.format.as_ref().and_then(LabelFormat::file_kind)
}

/// Whether a new address and a restart may help.
fn broke_off(error: &ApiError) -> bool {
    matches!(error, ApiError::AddressExpired { .. } | ApiError::Interrupted { .. })
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Api(error) => error.into(),
            Fault::Store(error) => error.into(),
            other => Problem {
                error: other.in_words(),
                ..Problem::of(Trouble::Failure, &other.code(), other.text())
            }
            .into(),
        }
    }
}

impl Fault {
    /// Whether the same fetch may soon succeed by itself.
    pub(crate) fn passes(&self) -> bool {
        match self {
            Self::Api(error) => broke_off(error) || self.is_stale() || error.class() != Class::Permanent,
            Self::Store(_) | Self::Disk(_) => true,
            Self::NotALabel { .. } | Self::NoShipment | Self::SetAside(_) => false,
        }
    }

    /// Whether the mirror shows a label that the marketplace no longer has, or does not have yet: its shipments are
    /// refreshed.
    pub(crate) fn is_stale(&self) -> bool {
        let Self::Api(error) = self else { return false };
        let kind = error.kind();
        matches!(kind, Some(Documented::LabelNotReady | Documented::NotFound))
    }

    /// Whether every other file would fail the same way now.
    pub(crate) fn concerns_all(&self) -> bool {
        match self {
            Self::Disk(_) | Self::Store(_) => true,
            Self::Api(error) => matches!(error, ApiError::Refused { status: 403, .. }),
            _ => false,
        }
    }

    /// Whether to show it at once, rather than after repeated failures.
    pub(crate) fn is_plain(&self) -> bool {
        !self.passes() || matches!(self, Self::Disk(_))
    }

    /// Whether all work on the store must end.
    pub(crate) fn ends_all(&self) -> bool {
        match self {
            Self::Api(error) => error.is_authentication(),
            Self::Store(error) => ends_all(Problem::from_store(error).trouble),
            _ => false,
        }
    }

    /// Returns a short stable code.
    pub(crate) fn code(&self) -> String {
        match self {
            Self::Api(error) => error.code(),
            Self::Store(_) => "database".into(),
            Self::Disk(error) if is_full(error) => "disk_full".into(),
            Self::Disk(_) => "disk".into(),
            Self::NotALabel { .. } => "not_a_label".into(),
            Self::NoShipment => "no_shipment".into(),
            Self::SetAside(_) => POISONED.into(),
        }
    }

    /// Returns the cause and the next step, for people.
    pub(crate) fn text(&self) -> Text {
        match self {
            Self::Api(error) => error.text(),
            Self::Store(error) => error.text(),
            Self::Disk(error) if is_full(error) => text!("run-label-disk-full"),
            Self::Disk(error) => text!("run-label-disk", problem = error.to_string()),
            Self::NotALabel { wanted, .. } => text!("run-not-a-label", wanted = wanted.extension()),
            Self::NoShipment => text!("run-label-without-shipment"),
            Self::SetAside(why) => why.clone(),
        }
    }

    /// Returns the cause in English, for logs.
    pub(crate) fn in_words(&self) -> String {
        match self {
            Self::Api(error) => with_causes(error),
            Self::Store(error) => with_causes(error),
            Self::NotALabel { problem, .. } => format!("{}: {problem}", self.text()),
            other => other.text().without_quotes().to_string(),
        }
    }
}

fn is_full(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}
