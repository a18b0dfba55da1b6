//! Doubts the open rows of a restored mirror: what the ERP asked for since the backup is not in it, nor what was done.
//!
//! A row stays as it is where the replaced mirror has the same row, still open: then it is the ERP's latest word. So does a
//! command that is done there: the journal, which must have been taken over too, proves it when its turn comes.
//!
//! A doubted command is `doubtful`, and a person's decision; a doubted level or price is `failed`: it may be out of date,
//! and is sent once the ERP writes it again, even as it is.

use chrono::{DateTime, Utc};
use espelho_model::{text, text::Locale};

use crate::{
    Error,
    driver::{Database, Value},
};

/// The place of a row's own words in a message, which the statements fill in; no name of a store has such signs.
const PLACE: &str = "~~";

macro_rules! doubted {
    ($table:literal, $state:literal, $states:literal, $row:literal, $kind:literal, $rest:literal) => {
        concat!(
            "UPDATE ",
            $table,
            " SET state = '",
            $state,
            "', error_code = 'restored', error = $1, hint = replace($2, '~~', ",
            $row,
            "), said = replace($3, '~~', ",
            $row,
            "), updated_at = $4 WHERE state IN (",
            $states,
            ")",
            $kind,
            $rest
        )
    };
}
/// Commands that were held or had failed may have been released or retried since.
macro_rules! commands {
    ($kind:literal, $rest:literal) => {
        doubted!(
            "commands",
            "doubtful",
            "'new', 'waiting', 'sending', 'held', 'failed'",
            "'command ' || id || ' --store ' || store",
            $kind,
            $rest
        )
    };
}
macro_rules! levels {
    ($table:literal, $rest:literal) => {
        doubted!($table, "failed", "'new', 'waiting', 'sending'", "store", "", $rest)
    };
}

/// Commands of some kinds that the replaced mirror has otherwise.
macro_rules! changed_commands {
    ($kind:literal) => {
        commands!(
            $kind,
            " AND NOT EXISTS (SELECT 1 FROM replaced.commands old WHERE old.id = commands.id \
             AND old.store = commands.store AND old.kind = commands.kind AND old.key = commands.key \
             AND old.data IS commands.data \
             AND (old.state = commands.state OR old.state IN ('new', 'waiting', 'sending', 'done')))"
        )
    };
}

/// Movements of stock are counted; everything else shows in the portal.
const MOVEMENTS: &str = commands!(" AND kind = 'stock.adjust'", "");
const MOVEMENTS_CHANGED: &str = changed_commands!(" AND kind = 'stock.adjust'");
const COMMANDS: &str = commands!(" AND kind <> 'stock.adjust'", "");
const COMMANDS_CHANGED: &str = changed_commands!(" AND kind <> 'stock.adjust'");
const STOCK: &str = levels!("erp_stock", "");
const STOCK_CHANGED: &str = levels!(
    "erp_stock",
    " AND NOT EXISTS (SELECT 1 FROM replaced.erp_stock old WHERE old.store = erp_stock.store \
     AND old.sku = erp_stock.sku AND old.location_id = erp_stock.location_id AND old.quantity IS erp_stock.quantity \
     AND old.state IN ('new', 'waiting', 'sending'))"
);
const PRICES: &str = levels!("erp_prices", "");
const PRICES_CHANGED: &str = levels!(
    "erp_prices",
    " AND NOT EXISTS (SELECT 1 FROM replaced.erp_prices old WHERE old.store = erp_prices.store \
     AND old.sku = erp_prices.sku AND old.min_quantity = erp_prices.min_quantity AND old.price IS erp_prices.price \
     AND old.discount_percent IS erp_prices.discount_percent AND old.package_weight IS erp_prices.package_weight \
     AND old.package_height IS erp_prices.package_height AND old.package_width IS erp_prices.package_width \
     AND old.package_length IS erp_prices.package_length AND old.state IN ('new', 'waiting', 'sending'))"
);

/// The open rows that are doubted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doubted {
    /// All: nothing tells what happened since the backup.
    All,
    /// Those that the replaced mirror, which is attached as `replaced`, has otherwise.
    Changed,
}

/// Doubts the open rows of all tables of the ERP; their words are in the language of `locale`.
pub(super) async fn open_rows(
    database: &Database,
    doubted: Doubted,
    locale: Locale,
    now: DateTime<Utc>,
) -> Result<(), Error> {
    let movement = text!("push-restored-movement", row = PLACE.to_owned());
    let command = text!("push-restored-command", row = PLACE.to_owned());
    let wish = text!("push-restored-wish", store = PLACE.to_owned());
    let (movements, commands, stock, prices) = match doubted {
        Doubted::All => (MOVEMENTS, COMMANDS, STOCK, PRICES),
        Doubted::Changed => (MOVEMENTS_CHANGED, COMMANDS_CHANGED, STOCK_CHANGED, PRICES_CHANGED),
    };
    for (sql, message) in [(movements, &movement), (commands, &command), (stock, &wish), (prices, &wish)] {
        let values: Vec<Value> = vec![
            message.message(locale).into(),
            message.next(locale).into(),
            serde_json::to_string(message).ok().into(),
            now.into(),
        ];
        database.execute("doubt open rows", sql, values).await?;
    }
    Ok(())
}
