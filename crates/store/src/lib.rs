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
mod before;
mod changes;
mod connect;
mod consumers;
mod copies;
mod counts;
mod driver;
mod effects;
mod error;
mod explain;
mod failures;
mod holders;
mod identity;
mod inbox;
mod inbox_watch;
mod label_folder;
mod lease;
mod listen;
mod lock_inspection;
mod lookups;
mod migrations;
mod mirrored;
mod missing;
mod moved_tokens;
mod orders;
mod overview;
mod page;
mod parts;
mod passes;
mod permissions;
mod products;
mod pulse;
mod rate;
mod reread;
mod rows;
mod rows_in_trouble;
mod runs;
mod server_locks;
mod soundness;
mod statements;
mod story;
mod sweeps;
mod tenure;
mod tokens;
mod trouble;
mod wanted;
mod webhook_addresses;
mod webhook_secrets;
mod write_proof;

pub use alarms::{AlarmRow, RecordedAlarm, ServiceInstance};
pub use ask::Table;
pub use audits::AuditRecord;
pub use before::ProductLevels;
pub use changes::{CHANNEL, Change, Op};
pub use connect::Store;
pub use consumers::Consumer;
pub use copies::{Replaced, Restored, Told, restore};
pub use counts::TableCount;
pub use effects::{Effect, EffectState, NewEffect, Settled};
pub use error::Error;
pub use explain::{ErrorRow, Explained};
pub use failures::Failure;
pub use inbox::{Delivery, NewDelivery};
pub use inbox_watch::{Heard, InboxWatch};
pub use label_folder::{Draft, Finished, LabelFolder};
pub use lease::Lease;
pub use listen::ChangeWatch;
pub use lock_inspection::{LockHolder, Process};
pub use lookups::{Answer, WaitingRow};
pub use mirrored::{
    campaigns::OpenCampaign,
    compare::{Compared, Unlike},
    label_files::{FetchedFile, LabelFile, LabelsInTheMaking, ReadyLabel, WantedLabels},
    listed::Listed,
};
pub use missing::Missing;
pub use orders::OrderWrite;
pub use overview::{FailureGroup, Overview, RunOnRecord, TableState};
pub use page::{Known, PageTx};
pub use parts::{KnownPart, Part};
pub use passes::{KeptPage, Pass};
pub use products::ProductWrite;
pub use rate::RateBlock;
pub use reread::{OpenOrder, Paces};
pub use rows_in_trouble::{DueDeadlines, RowsInTrouble};
pub use runs::{RunId, RunResult};
pub use story::{Event, Happened, Subject};
pub use sweeps::{EnumValue, RemoteCount, SweepOverview, SweepRecord, WebhookWatch};
pub use tenure::Tenure;
pub use tokens::{KeptToken, LoginOnRecord};
pub use trouble::DatabaseTrouble;

pub use wanted::{
    Outcome,
    commands::Command,
    counts::WantedCounts,
    joining::Joinable,
    prices::{WantedPrices, WantedTier},
    release::{HeldRow, TroubledRow, Wanted, WantedRow},
    stock::WantedStock,
    unknown_stores::RowWords,
    write::{PriceWish, StockWish},
};
pub use webhook_addresses::WebhookOwner;
pub use webhook_secrets::{KeptSecret, SECRET_GRACE};

#[doc(hidden)]
pub use statements::prepare_all;
