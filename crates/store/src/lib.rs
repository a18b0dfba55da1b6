//! The database layer: the mirror, the ERP's intents, the journal and the inbox, in SQLite or PostgreSQL with one
//! SQL text for both. No HTTP, no policy.
//!
//! [`Store`] opens the database and runs the migrations. Its accessors give a handle for each concern; [`LeaseTx`] is
//! the transaction in which a page's rows and its checkpoint move together. The rooms, in reading order: `mirror`,
//! `intents`, `journal`, `inbox`, `ownership`, `operations`, `api`, `schema`. `connect` opens either database, and
//! only `driver` binds, runs and reads on both. Elsewhere a file asks which one it has (`Database::Sqlite`,
//! `Tx::Postgres`) where one of them can do what the other cannot: notify, lock rows, or keep the inbox and the journal
//! in a second file.
#![deny(missing_docs)]

mod accessors;
mod api;
mod cells;
mod connect;
mod driver;
mod error;
mod inbox;
mod intents;
mod journal;
mod migrations;
mod mirror;
mod notifications;
mod operations;
mod ownership;
mod prunable;
mod schema;
mod statements;
mod trouble;
mod words;

pub use api::{
    Api,
    batch::{Batch, NewCommand, TakenOrder, WrittenRow},
    catalogue::{ApiTable, HIDDEN_COLUMNS, HIDDEN_TABLES, KeyPart, api_tables},
    read::RowPage,
    requests::{RequestKey, Written},
    select::{Comparison, Filter, FilterValue, Position, RowQuery},
};
pub use cells::{Kind as ColumnKind, MirroredRow, WholeRow};
pub use connect::{Store, file_watch::FileTrouble};
pub use error::{CopyObstacle, Error};
pub use inbox::{
    Inbox,
    deliveries::{NewDelivery, StoredDelivery},
    replay::{DeliveryName, DeliveryRow, DeliverySelection},
    watch::{Heard, InboxWatch},
    webhook_addresses::{WebhookAddress, WebhookOwner},
    webhook_secrets::{KeptSecret, SECRET_GRACE},
};
pub use intents::{
    Commands, IntentWriter, Intents, Outcome, Releases,
    answers::{Answer, WaitingRow},
    campaign_candidates::CampaignCandidate,
    commands::Command,
    counts::IntentCounts,
    kind::IntentKind,
    open_pages::{MOST_DATA, OpenCommand, PAGE_ROWS, SHORT_DATA},
    prices::{PriceIntent, TierIntent},
    release::{IntentRow, SeenRow},
    stock::{SentLevel, StockIntent},
    unknown_stores::RowWords,
    unreadable::UnreadableWalk,
    write::{DesiredPrice, DesiredStock},
};
pub use journal::{
    Journal,
    effects::{Effect, EffectOutcome, EffectState, NewEffect},
};
pub use mirror::{
    Changes, FailureWriter, LabelFileWriter, LabelFiles, Lookups, Mirror, MirrorWriter, PassWriter,
    Staleness, StalenessWriter,
    changes::{CHANNEL, Change, Op},
    consumers::Consumer,
    failures::Failure,
    label_folder::{Draft, Finished, LabelFolder},
    mirrored_values::{KnownOrder, OrderStatus, ProductLevels},
    missing::Missing,
    orders::OrderWrite,
    page::{Known, LeaseTx},
    passes::{KeptPage, Pass},
    products::ProductWrite,
    staleness::{DueOrder, DueTime, OpenOrder, Rescheduling, UnscheduledOrder},
    subresources::{KnownSubresource, Subresource, UnreadOrder},
    tables::{
        campaigns::{MissingListings, OpenCampaign},
        compare::{Compared, Unlike},
        label_files::{FetchedFile, LabelFile, LabelsInTheMaking, LabelsToFetch, ReadyLabel},
        listed::Listed,
    },
    watch::ChangeWatch,
};
pub use operations::{
    Actions, Alarms, Diagnostics, Erasures, History, Notices, Overviews, Pauses, Quarantine, Runs,
    SweepWriter, Tokens,
    actions::{ActedRow, Action, NewAction},
    alarms::{AlarmRow, PeerAlarm, RecordedAlarm, ServiceInstance},
    ask::Table,
    audits::{AuditDifference, AuditRecord},
    backup::{
        BackupAct, BackupFailure, BackupRecord, ProgressFn, Replaced, Restored, back_up, open_to_copy,
        restore,
    },
    erasures::{Erasure, ErasureCounts, FoundPerson, copy_has_person},
    explain::{ErrorRow, Explained, explainable},
    figures::{Bounds, Figures, TroubledRow},
    grants::grants,
    lists::{ListedOrder, OrderList, QueuedRow},
    mirrored_order::MirroredOrder,
    mirrored_product::{MirroredLevel, MirroredProduct},
    notices::{DueNotice, NewNoticeDelivery, Notice, NoticeChannel, NoticeState},
    overview::{FailureGroup, Overview, ReadSoFar, RunOnRecord, StoreProof},
    quarantine::{PANICKED, POISONED, Quarantined},
    rate::RateBlock,
    rehearsal::{
        ChangeKind, CopyWay, LockedTable, MigrationState, Part, Rehearsal, RehearsalCopy, RehearsedMigration,
        SchemaChange, Stops, TableRows, rehearse,
    },
    row_counts::{TableState, TableStates, counted_tables},
    rows_in_trouble::{DueDeadlines, FiscalQueue, RowsInTrouble},
    runs::{EndedRun, RunId, RunResult},
    search::{Found, Spellings},
    shared_skus::SharedSkus,
    story::{Event, Happened, Subject},
    sweeps::{EnumValue, RemoteCount, SweepOverview, SweepRecord, WebhookWatch},
    tokens::{KeptToken, LoginOnRecord},
    zero_prices::ZeroPrices,
};
pub use ownership::{
    Leases,
    in_flight::{InFlight, Isolation, LeftOver, LeftOvers, OnThread, Slot},
    lease::Lease,
    lease_guard::LeaseGuard,
    lock_inspection::{LockHolder, Process, TableBlocker},
    lock_table::LockTable,
};
pub use prunable::Prunable;
pub use schema::{Difference, ObjectKind, SchemaDefect};
pub use trouble::DatabaseTrouble;

#[doc(hidden)]
pub use statements::{
    prepare_all, statement_of_shared_skus, statement_of_waiting_stores, statement_of_zero_prices,
    statements_of, statements_of_lists, statements_of_sweeps, statements_of_turns, statements_with_keys,
};
