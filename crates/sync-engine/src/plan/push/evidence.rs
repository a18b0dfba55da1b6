//! What the journal keeps with an effect before it leaves: enough to find out later whether it happened.
//!
//! Each kind of effect has a type. It is stored as a JSON object with the version `v`; rows without `v` were written
//! before there were versions and have the same fields. Evidence that cannot be read proves nothing: its effect is
//! doubtful, never confirmed and never refuted.

use espelho_store::Effect;
use serde::{Deserialize, Deserializer, Serialize, de::DeserializeOwned};
use serde_json::Value;

/// The version that is written.
const VERSION: u64 = 1;

/// The evidence of one kind of effect.
pub trait Evidence: Serialize + DeserializeOwned {
    /// The kind, as the journal names it.
    const KIND: &'static str;

    /// True where the effect may happen twice without harm: it sets what it sets. A transition does too; but a dispatch
    /// moves stock, and must be known to be over.
    const IS_REPEATABLE: bool;

    /// False where the fields can be read and prove nothing: a list of nothing that is all there.
    fn can_prove(&self) -> bool {
        true
    }
}

/// The evidence of an effect is missing, of another kind, of a later version, or incomplete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreadable;

/// Writes evidence as the journal keeps it.
pub fn write<E: Evidence>(evidence: &E) -> String {
    let mut value = serde_json::to_value(evidence).unwrap_or_default();
    if let Value::Object(fields) = &mut value {
        fields.insert("v".to_owned(), VERSION.into());
    }
    value.to_string()
}

/// Reads the evidence of an effect.
///
/// # Errors
/// [`Unreadable`] where it proves nothing.
pub fn read<E: Evidence>(effect: &Effect) -> Result<E, Unreadable> {
    let text = effect.evidence.as_deref().filter(|_| effect.kind == E::KIND).ok_or(Unreadable)?;
    let mut value: Value = serde_json::from_str(text).map_err(|_| Unreadable)?;
    match value.as_object_mut().and_then(|fields| fields.remove("v")) {
        None => (),
        Some(version) if version.as_u64() == Some(VERSION) => (),
        Some(_) => return Err(Unreadable),
    }
    let evidence: E = serde_json::from_value(value).map_err(|_| Unreadable)?;
    if evidence.can_prove() { Ok(evidence) } else { Err(Unreadable) }
}

/// Declares the types of evidence: without its line here a kind is never repeated, and its rows are not tested.
macro_rules! kinds {
    ($($evidence:ty),+ $(,)?) => {
        /// Says whether an effect of a kind may happen twice without harm; false for kinds that nothing proves.
        pub fn is_repeatable(kind: &str) -> bool {
            $(if kind == <$evidence>::KIND {
                return <$evidence>::IS_REPEATABLE;
            })+
            false
        }

        #[cfg(test)]
        const KINDS: &[&str] = &[$(<$evidence>::KIND),+];
    };
}

kinds! {
    super::stock_level::LevelEvidence,
    super::stock_movement::MovementEvidence,
    super::price_step::StepEvidence,
    super::product::UpdateEvidence,
    super::product::CreationEvidence,
    super::order_status::TransitionEvidence,
    super::order_notes::NotesEvidence,
    super::labels::LabelsEvidence,
    super::campaign_opt_in::OptInEvidence,
    super::media::UploadEvidence,
    super::media::GalleryEvidence,
    super::store_page::PageEvidence,
}

/// Reads a field that must be there, even where it is null.
pub(super) fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    field: D,
) -> Result<Option<T>, D::Error> {
    Option::deserialize(field)
}

#[cfg(test)]
mod tests {
    use espelho_model::push::CommandKind;
    use espelho_store::EffectState;

    use super::{
        super::{
            campaign_opt_in::OptInEvidence,
            labels::LabelsEvidence,
            media::{GalleryEvidence, UploadEvidence},
            order_notes::NotesEvidence,
            order_status::TransitionEvidence,
            price_step::StepEvidence,
            product::{CreationEvidence, UpdateEvidence},
            stock_level::LevelEvidence,
            stock_movement::MovementEvidence,
            store_page::PageEvidence,
            tests::effect,
        },
        *,
    };

    fn reads<E: Evidence + std::fmt::Debug + PartialEq>(text: &str) -> bool {
        let read = read::<E>(&effect(E::KIND, Some(text), EffectState::Sent));
        if let Ok(evidence) = &read {
            let written = write(evidence);
            let again = super::read::<E>(&effect(E::KIND, Some(&written), EffectState::Sent));
            assert_eq!(again.as_ref(), Ok(evidence), "{written}");
            assert!(written.contains("\"v\":1"), "{written}");
        }
        read.is_ok()
    }

    type Reader = fn(&str) -> bool;

    /// Each kind with a row as versions before this one wrote it.
    const ROWS: &[(Reader, &str)] = &[
        (reads::<LevelEvidence>, r#"{"product":"P","location":"1","sku":"A","target":"7","wish":3}"#),
        (
            reads::<MovementEvidence>,
            r#"{"product":"P","sku":"A","location":"1","delta":"-2","before":"9","mark":4,
            "from":"2026-11-20T12:00:00+00:00","until":"2026-11-20T12:00:01+00:00","total":"9","places":1}"#,
        ),
        (
            reads::<StepEvidence>,
            r#"{"product":"P","step":"put","min_quantity":1,"price":"9.90","discount":null,"wish":null}"#,
        ),
        (reads::<UpdateEvidence>, r#"{"product":"P","data":{"name":"Banco"}}"#),
        (reads::<CreationEvidence>, r#"{"sku":"A"}"#),
        (
            reads::<TransitionEvidence>,
            r#"{"order":"MP-1","target":"shipped","from":"ready_to_ship","mark":9}"#,
        ),
        (reads::<NotesEvidence>, r#"{"order":"MP-1","notes":null}"#),
        (reads::<LabelsEvidence>, r#"{"order":"MP-1","labels":[]}"#),
        (reads::<OptInEvidence>, r#"{"campaign":7,"listings":["MPB-1"]}"#),
        (reads::<UploadEvidence>, r#"{"before":[],"path":"foto.jpg"}"#),
        (reads::<GalleryEvidence>, r#"{"image":"I","product":"P"}"#),
        (reads::<PageEvidence>, r#"{"description":null}"#),
    ];

    #[test]
    fn rows_of_the_version_before_are_read_and_written_with_a_version() {
        for (reads, row) in ROWS.iter().copied() {
            assert!(reads(row), "{row}");
        }
    }

    // withstands: F001
    #[test]
    fn evidence_that_lacks_a_field_has_another_type_or_a_later_version_proves_nothing() {
        // What the oldest movements lack, and what says nothing where it is null.
        const OPTIONAL: [&str; 9] =
            ["mark", "from", "until", "total", "places", "discount", "price", "wish", "path"];
        for (reads, row) in ROWS.iter().copied() {
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

    /// Kinds of commands that no route shows afterwards: their lost answers stay doubtful.
    const NOT_PROVABLE: &[CommandKind] = &[
        CommandKind::PriceListCreate,
        CommandKind::PriceListUpdate,
        CommandKind::PriceListsSettings,
        CommandKind::ListingCreate,
        CommandKind::ListingPublish,
        CommandKind::WebhookTest,
    ];

    #[test]
    fn every_kind_of_command_has_evidence_or_is_known_to_have_none() {
        assert_eq!(ROWS.len(), KINDS.len(), "each kind has a row of an earlier version");
        for kind in CommandKind::ALL {
            // A tier that is deleted is a step of prices.
            let word = if *kind == CommandKind::PriceDeleteTier { "price.step" } else { kind.as_str() };
            let has_evidence = KINDS.contains(&word);
            assert_ne!(has_evidence, NOT_PROVABLE.contains(kind), "{word}");
        }
        let repeatable: Vec<&str> = KINDS.iter().copied().filter(|kind| is_repeatable(kind)).collect();
        let expected = [
            "stock.set",
            "price.step",
            "product.update",
            "order.notes",
            "campaign.opt_in",
            "store_page.update",
        ];
        assert_eq!(repeatable, expected);
        assert!(!is_repeatable("listing.create"));
    }

    #[test]
    fn a_list_of_nothing_proves_nothing() {
        assert!(!reads::<OptInEvidence>(r#"{"campaign":7,"listings":[]}"#));
        assert!(!reads::<UpdateEvidence>(r#"{"product":"P","data":{}}"#));
        assert!(!reads::<PageEvidence>(r#"{"logo":"x"}"#));
    }

    #[test]
    fn evidence_of_another_kind_is_not_read() {
        let row = r#"{"product":"P","location":"1","sku":"A","target":"7","wish":3}"#;
        assert_eq!(
            read::<LevelEvidence>(&effect("stock.adjust", Some(row), EffectState::Sent)),
            Err(Unreadable)
        );
        assert_eq!(read::<LevelEvidence>(&effect("stock.set", None, EffectState::Sent)), Err(Unreadable));
    }
}
