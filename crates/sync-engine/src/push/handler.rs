//! What each kind of command tells about itself, and how it is carried out. `kinds` has an implementation for each kind.

use espelho_api_client::ApiRequest;
use espelho_model::ProductId;
use espelho_store::{Command, Effect};
use futures_util::future::BoxFuture;
use serde_json::Value;

use super::{command_context::CommandContext, fields::FieldType, services::Services};
use crate::{
    Error,
    plan::push::{
        Settlement, Verdict,
        evidence::{EvidenceKind, Unreadable},
    },
};

/// A kind of command.
pub(crate) trait CommandHandler: Send + Sync {
    /// Returns the key of a command's subject. Commands with the same key run one after the other, and the effects of
    /// a command have it in the journal. `order/NUMBER` also shows the command in the order's `explain`.
    fn subject_key(&self, command: &Command) -> String;

    /// Says whether the keys of a command are in its data: a scan then reads the data however long it is.
    fn has_keys_in_data(&self) -> bool {
        false
    }

    /// Says whether the key of a command is the SKU of the product that it changes: it waits while two products share it.
    fn changes_product(&self) -> bool {
        false
    }

    /// The fields that a command's data may have; `None` where its execution checks them.
    fn fields(&self) -> Option<&'static [(&'static str, FieldType)]> {
        None
    }

    /// Returns a key that a command reserves besides its subject.
    fn conflicting_key(&self, command: &Command) -> Option<String> {
        let _ = command;
        None
    }

    /// Returns the key of a sequence: commands with it keep their order, and other commands of the subject may
    /// overtake one that waits.
    fn sequence_key(&self, command: &Command) -> Option<String> {
        let _ = command;
        None
    }

    /// The evidence that settles an effect of this kind whose answer was lost; `None` where no route shows it
    /// afterwards, so that it is doubtful.
    fn evidence(&self) -> Option<EvidenceKind> {
        None
    }

    /// The number of requests with the reads before and after, when nothing goes wrong.
    fn cost(&self) -> u32 {
        1
    }

    /// Returns the request of a command, where it is known before anything is read.
    fn planned_request(
        &self,
        command: &Command,
        data: &Value,
        product: Option<&ProductId>,
    ) -> Option<ApiRequest> {
        let _ = (command, data, product);
        None
    }

    /// Carries out a command, or one more step of it. It runs again after each settlement, so it answers what is
    /// confirmed without sending it.
    fn execute<'a>(
        &'a self,
        services: &'a Services<'a>,
        cx: &'a CommandContext<'a>,
    ) -> BoxFuture<'a, Result<Verdict, Error>>;

    /// Settles an effect of this kind: reads what the pure `settle` of `plan::push` needs.
    fn settle<'a>(&'a self, services: &'a Services<'a>, effect: &'a Effect) -> BoxFuture<'a, SettleResult> {
        let _ = (services, effect);
        Box::pin(async { Err(Unsettled::Unreadable) })
    }
}

/// The result of reading the evidence.
pub(crate) type SettleResult = Result<Settlement, Unsettled>;

/// The reason why an effect cannot be settled now.
pub(crate) enum Unsettled {
    /// Its evidence proves nothing, and never will.
    Unreadable,
    /// A read failed.
    Failed(Error),
}

impl From<Unreadable> for Unsettled {
    fn from(_: Unreadable) -> Self {
        Self::Unreadable
    }
}

impl<E: Into<Error>> From<E> for Unsettled {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}
