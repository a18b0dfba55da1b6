//! The mirror: tables in SQLite or PostgreSQL, one SQL text for both. No HTTP, no policy.
//!
//! [`Store`] opens the database and runs the migrations; each file adds the functions of one aggregate to it
//! or to [`PageTx`], the transaction in which a page's rows and its checkpoint move together. Only `driver`
//! and `connect` know which database is there.
#![deny(missing_docs)]

mod alarms;
mod ask;
mod attach;
mod audits;
mod backup;
mod changes;
mod connect;
mod consumers;
mod counts;
mod driver;
mod effects;
mod error;
mod explain;
mod failures;
mod heartbeat;
mod held_stores;
mod identity;
mod inbox;
mod inbox_watch;
mod integrity_checks;
mod intents;
mod label_folder;
mod lease;
mod lease_guard;
mod listen;
mod lock_inspection;
mod lookups;
mod migrations;
mod mirrored;
mod mirrored_values;
mod missing;
mod moved_tokens;
mod orders;
mod overview;
mod page;
mod passes;
mod permissions;
mod products;
mod rate;
mod rows;
mod rows_in_trouble;
mod runs;
mod server_locks;
mod staleness;
mod statements;
mod story;
mod subresources;
mod sweeps;
mod tokens;
mod trouble;
mod webhook_addresses;
mod webhook_secrets;
mod write_proof;

pub use alarms::{AlarmRow, RecordedAlarm, ServiceInstance};
pub use ask::Table;
pub use audits::AuditRecord;
pub use backup::{ProgressFn, Replaced, Restored, restore};
pub use changes::{CHANNEL, Change, Op};
pub use connect::Store;
pub use consumers::Consumer;
pub use counts::TableCount;
pub use effects::{Effect, EffectState, NewEffect, Settled};
pub use error::Error;
pub use explain::{ErrorRow, Explained};
pub use failures::Failure;
pub use inbox::{Delivery, NewDelivery};
pub use inbox_watch::{Heard, InboxWatch};
pub use label_folder::{Draft, Finished, LabelFolder};
pub use lease::Lease;
pub use lease_guard::LeaseGuard;
pub use listen::ChangeWatch;
pub use lock_inspection::{LockHolder, Process};
pub use lookups::{Answer, WaitingRow};
pub use mirrored::{
    campaigns::OpenCampaign,
    compare::{Compared, Unlike},
    label_files::{FetchedFile, LabelFile, LabelsInTheMaking, LabelsToFetch, ReadyLabel},
    listed::Listed,
};
pub use mirrored_values::ProductLevels;
pub use missing::Missing;
pub use orders::OrderWrite;
pub use overview::{FailureGroup, Overview, RunOnRecord, TableState};
pub use page::{Known, PageTx};
pub use passes::{KeptPage, Pass};
pub use products::ProductWrite;
pub use rate::RateBlock;
pub use rows_in_trouble::{DueDeadlines, RowsInTrouble};
pub use runs::{RunId, RunResult};
pub use staleness::{OpenOrder, Paces};
pub use story::{Event, Happened, Subject};
pub use subresources::{KnownSubresource, Subresource};
pub use sweeps::{EnumValue, RemoteCount, SweepOverview, SweepRecord, WebhookWatch};
pub use tokens::{KeptToken, LoginOnRecord};
pub use trouble::DatabaseTrouble;

pub use intents::{
    Outcome,
    commands::Command,
    counts::IntentCounts,
    joining::Joinable,
    prices::{PriceIntent, TierIntent},
    release::{HeldRow, IntentKind, IntentRow, TroubledRow},
    stock::StockIntent,
    unknown_stores::RowWords,
    write::{DesiredPrice, DesiredStock},
};
pub use webhook_addresses::WebhookOwner;
pub use webhook_secrets::{KeptSecret, SECRET_GRACE};

#[doc(hidden)]
pub use statements::prepare_all;
