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

/// What stands for a row's own part in a message; no name of a store has such signs.
const PLACE: &str = "~~";

macro_rules! doubt {
    ($table:literal, $state:literal, $of:literal, $place:literal) => {
        concat!(
            "UPDATE ",
            $table,
            " SET state = '",
            $state,
            "', error_code = 'restored', error = $1, hint = replace($2, '~~', ",
            $place,
            "), said = replace($3, '~~', ",
            $place,
            "), updated_at = $4 WHERE state IN (",
            $of,
            ")"
        )
    };
}

/// One that was held or had failed may have been released or retried since.
const COMMANDS: &str = doubt!(
    "commands",
    "doubtful",
    "'new', 'waiting', 'sending', 'held', 'failed'",
    "'command ' || id || ' --store ' || store"
);
const COMMANDS_CHANGED: &str = concat!(
    doubt!(
        "commands",
        "doubtful",
        "'new', 'waiting', 'sending', 'held', 'failed'",
        "'command ' || id || ' --store ' || store"
    ),
    " AND NOT EXISTS (SELECT 1 FROM replaced.commands old WHERE old.id = commands.id AND old.store = commands.store \
     AND old.kind = commands.kind AND old.key = commands.key AND old.data IS commands.data \
     AND (old.state = commands.state OR old.state IN ('new', 'waiting', 'sending', 'done')))"
);
const STOCK: &str = doubt!("erp_stock", "failed", "'new', 'waiting', 'sending'", "store");
const STOCK_CHANGED: &str = concat!(
    doubt!("erp_stock", "failed", "'new', 'waiting', 'sending'", "store"),
    " AND NOT EXISTS (SELECT 1 FROM replaced.erp_stock old WHERE old.store = erp_stock.store \
     AND old.sku = erp_stock.sku AND old.location_id = erp_stock.location_id AND old.quantity IS erp_stock.quantity \
     AND old.state IN ('new', 'waiting', 'sending'))"
);
const PRICES: &str = doubt!("erp_prices", "failed", "'new', 'waiting', 'sending'", "store");
const PRICES_CHANGED: &str = concat!(
    doubt!("erp_prices", "failed", "'new', 'waiting', 'sending'", "store"),
    " AND NOT EXISTS (SELECT 1 FROM replaced.erp_prices old WHERE old.store = erp_prices.store \
     AND old.sku = erp_prices.sku AND old.min_quantity = erp_prices.min_quantity AND old.price IS erp_prices.price \
     AND old.discount_percent IS erp_prices.discount_percent AND old.state IN ('new', 'waiting', 'sending'))"
);

/// Which open rows are doubted.
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
    let command = text!("push-restored-command", row = PLACE.to_owned());
    let wish = text!("push-restored-wish", store = PLACE.to_owned());
    let (commands, stock, prices) = match doubted {
        Doubted::All => (COMMANDS, STOCK, PRICES),
        Doubted::Changed => (COMMANDS_CHANGED, STOCK_CHANGED, PRICES_CHANGED),
    };
    for (sql, message) in [(commands, &command), (stock, &wish), (prices, &wish)] {
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
