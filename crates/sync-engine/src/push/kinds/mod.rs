//! The kinds of commands: a file for each, and the one registry from which everything else about a kind follows.

mod campaign_opt_in;
mod gallery_add;
mod labels_generate;
mod listing_create;
mod listing_publish;
mod media_upload;
mod order_notes;
mod order_status;
mod price_delete_tier;
mod price_list_create;
mod price_list_fields;
mod price_list_update;
mod price_lists_settings;
mod product_create;
mod product_fields;
mod product_update;
mod send_once;
mod stock_adjust;
mod store_page_update;
mod webhook_test;

use espelho_model::push::CommandKind;
use espelho_store::Command;

use super::handler::CommandHandler;
use crate::plan::push::{evidence::EvidenceKind, level_evidence::LevelEvidence, price_step::StepEvidence};

/// Returns the handler of a kind: the registry.
pub(crate) fn handler(kind: CommandKind) -> &'static dyn CommandHandler {
    match kind {
        CommandKind::OrderStatus => &order_status::OrderStatus,
        CommandKind::OrderNotes => &order_notes::OrderNotes,
        CommandKind::LabelsGenerate => &labels_generate::LabelsGenerate,
        CommandKind::CampaignOptIn => &campaign_opt_in::CampaignOptIn,
        CommandKind::PriceListCreate => &price_list_create::PriceListCreate,
        CommandKind::PriceListUpdate => &price_list_update::PriceListUpdate,
        CommandKind::PriceListsSettings => &price_lists_settings::PriceListsSettings,
        CommandKind::ProductCreate => &product_create::ProductCreate,
        CommandKind::ProductUpdate => &product_update::ProductUpdate,
        CommandKind::StockAdjust => &stock_adjust::StockAdjust,
        CommandKind::PriceDeleteTier => &price_delete_tier::PriceDeleteTier,
        CommandKind::MediaUpload => &media_upload::MediaUpload,
        CommandKind::GalleryAdd => &gallery_add::GalleryAdd,
        CommandKind::ListingCreate => &listing_create::ListingCreate,
        CommandKind::ListingPublish => &listing_publish::ListingPublish,
        CommandKind::StorePageUpdate => &store_page_update::StorePageUpdate,
        CommandKind::WebhookTest => &webhook_test::WebhookTest,
    }
}

/// Returns the handler of a kind, by the word of a command or of an effect; `None` for an unknown word.
pub(crate) fn handler_of(word: &str) -> Option<&'static dyn CommandHandler> {
    CommandKind::parse(word).map(handler)
}

/// Returns the key of a command's subject.
pub(crate) fn subject_key(command: &Command) -> String {
    handler_of(&command.kind)
        .map_or_else(|| format!("command/{}", command.id), |own| own.subject_key(command))
}

/// Says whether the keys of a command of this kind are in its data.
pub(crate) fn has_keys_in_data(kind: &str) -> bool {
    handler_of(kind).is_some_and(CommandHandler::has_keys_in_data)
}

/// Says whether an effect may happen twice without harm; false for effects that nothing proves.
pub(crate) fn is_repeatable(effect: &str) -> bool {
    let own = || handler_of(effect).and_then(CommandHandler::evidence);
    let desired = [EvidenceKind::of::<LevelEvidence>(), EvidenceKind::of::<StepEvidence>()];
    let found = desired.into_iter().find(|evidence| evidence.kind == effect).or_else(own);
    found.is_some_and(|evidence| evidence.kind == effect && evidence.is_repeatable)
}

#[cfg(test)]
mod tests {
    use espelho_store::EffectState;
    use serde_json::Value;

    use super::*;
    use crate::plan::push::tests::effect;

    /// Each kind of evidence once.
    fn all_evidence() -> Vec<EvidenceKind> {
        let mut all = vec![EvidenceKind::of::<LevelEvidence>()];
        all.extend(CommandKind::ALL.iter().filter_map(|kind| handler(*kind).evidence()));
        all
    }

    fn rewritten(evidence: &EvidenceKind, row: &str) -> Option<String> {
        (evidence.rewrite)(&effect(evidence.kind, Some(row), EffectState::Sent)).ok()
    }

    #[test]
    fn the_evidence_of_every_kind_bears_its_word() {
        for kind in CommandKind::ALL {
            let own = handler(*kind);
            assert!(own.cost() > 0, "{kind}");
            // A tier that is deleted is a step of prices.
            let word = if *kind == CommandKind::PriceDeleteTier { "price.step" } else { kind.as_str() };
            assert!(own.evidence().is_none_or(|evidence| evidence.kind == word), "{kind}");
        }
    }

    #[test]
    fn what_no_route_shows_afterwards_has_no_evidence_and_the_rest_says_what_may_happen_twice() {
        let unprovable = CommandKind::ALL.iter().filter(|kind| handler(**kind).evidence().is_none());
        let unprovable: Vec<&str> = unprovable.map(|kind| kind.as_str()).collect();
        let expected = [
            "price_list.create",
            "price_list.update",
            "price_lists.settings",
            "listing.create",
            "listing.publish",
            "webhook.test",
        ];
        assert_eq!(unprovable, expected);
        let repeatable: Vec<&str> =
            all_evidence().iter().map(|one| one.kind).filter(|kind| is_repeatable(kind)).collect();
        let expected = [
            "stock.set",
            "order.notes",
            "campaign.opt_in",
            "product.update",
            "price.step",
            "store_page.update",
        ];
        assert_eq!(repeatable, expected);
        for never in ["listing.create", "price.delete_tier", "stock.adjust", "order.status", "order.cancel"] {
            assert!(!is_repeatable(never), "{never}");
        }
    }

    // withstands: F143
    #[test]
    fn rows_of_the_version_before_are_read_and_written_with_a_version() {
        for evidence in all_evidence() {
            let row = rewritten(&evidence, evidence.earlier_row).unwrap();
            assert!(row.contains("\"v\":1"), "{row}");
            assert_eq!(rewritten(&evidence, &row).as_ref(), Some(&row));
        }
    }

    // withstands: F001, F143
    #[test]
    fn evidence_that_lacks_a_field_has_another_type_or_a_later_version_proves_nothing() {
        // What the oldest movements lack, and what says nothing where it is null.
        const OPTIONAL: [&str; 9] =
            ["mark", "from", "until", "total", "places", "discount", "price", "wish", "path"];
        for evidence in all_evidence() {
            let row = evidence.earlier_row;
            let reads = |row: &str| rewritten(&evidence, row).is_some();
            let fields = serde_json::from_str::<Value>(row).unwrap();
            let fields = fields.as_object().unwrap();
            for name in fields.keys().filter(|name| !OPTIONAL.contains(&name.as_str())) {
                let mut without = fields.clone();
                without.remove(name);
                assert!(!reads(&Value::Object(without).to_string()), "{row} without {name}");
                let mut changed = fields.clone();
                changed.insert(name.clone(), serde_json::json!({"another": ["type"]}));
                let is_data = name == "data";
                assert!(is_data || !reads(&Value::Object(changed).to_string()), "{row} with another {name}");
            }
            let mut later = fields.clone();
            later.insert("v".to_owned(), 2.into());
            assert!(!reads(&Value::Object(later).to_string()), "{row} of a later version");
            for garbled in ["", "null", "[]", "{}", "7", &row[..row.len() - 1]] {
                assert!(!reads(garbled), "{garbled:?} for {row}");
            }
        }
    }

    #[test]
    fn commands_of_one_subject_have_one_key_and_what_nobody_knows_has_its_own() {
        let command = |kind: &str, key: &str, data: &str| Command {
            id: 7,
            kind: kind.to_owned(),
            key: key.to_owned(),
            data: data.to_owned(),
            state: None,
            created_at: None,
            code: None,
        };
        let expected = [
            ("order.status", "MP-1", "", "order/MP-1"),
            ("order.notes", "MP-1", "", "order/MP-1"),
            ("labels.generate", "MP-1", "", "order/MP-1"),
            ("campaign.opt_in", "4", "", "campaign/4"),
            ("price_list.create", "", "", "command/7"),
            ("price_list.update", "9", "", "price_list/9"),
            ("price_lists.settings", "", "", "price_lists"),
            ("product.create", "A", "", "product/A"),
            ("product.update", "A", "", "product/A"),
            ("stock.adjust", "A", r#"{"location_id": 1}"#, "stock/A/1"),
            ("stock.adjust", "A", r#"{"location_id": "1"}"#, "stock/A/1"),
            ("stock.adjust", "A  ", r#"{"location_id": 1}"#, "stock/A/1"),
            ("price.delete_tier", "A", "", "prices/A"),
            ("media.upload", "foto", "", "command/7"),
            ("gallery.add", "A", "", "product/A"),
            ("listing.create", "x", "", "listing/x"),
            ("listing.publish", "x", "", "listing/x"),
            ("store_page.update", "", "", "store_page"),
            ("webhook.test", "", "", "command/7"),
            ("order.cancel", "MP-1", "", "command/7"),
        ];
        for (kind, key, data, subject) in expected {
            let command = command(kind, key, data);
            assert_eq!(subject_key(&command), subject, "{kind}");
            let own = handler_of(kind);
            let conflicting = own.and_then(|own| own.conflicting_key(&command));
            assert_eq!(conflicting, (kind == "product.update").then(|| "prices/A".to_owned()), "{kind}");
            let sequence = own.and_then(|own| own.sequence_key(&command));
            assert_eq!(sequence, (kind == "order.status").then(|| "order/MP-1/status".to_owned()), "{kind}");
        }
    }
}
