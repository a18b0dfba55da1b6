//! What the journal keeps with an effect before it leaves: enough to find out later whether it happened.
//!
//! Each kind of effect has a type. It is stored as a JSON object with the version `v`; rows without `v` were written
//! before there were versions and have the same fields. Evidence that cannot be read proves nothing: its effect is
//! doubtful, never confirmed and never refuted.

use espelho_store::{Effect, EffectState};
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

    /// A row as a version before this one wrote it: such rows stay readable.
    const EARLIER_ROW: &'static str;

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

/// True for an effect that happened, or may have.
pub fn may_have_happened(effect: &Effect) -> bool {
    !matches!(effect.state, EffectState::Refuted | EffectState::Planned)
}

/// What is known of a type of evidence without its fields.
#[derive(Clone, Copy, Debug)]
pub struct EvidenceKind {
    /// The kind, as the journal names it.
    pub kind: &'static str,
    /// Whether the effect may happen twice without harm.
    pub is_repeatable: bool,
    /// A row of an earlier version.
    pub earlier_row: &'static str,
    /// Reads the evidence of an effect, and writes it as this version does.
    pub rewrite: fn(&Effect) -> Result<String, Unreadable>,
}

impl EvidenceKind {
    /// Describes a type.
    pub fn of<E: Evidence>() -> Self {
        Self {
            kind: E::KIND,
            is_repeatable: E::IS_REPEATABLE,
            earlier_row: E::EARLIER_ROW,
            rewrite: |effect| read::<E>(effect).map(|evidence| write(&evidence)),
        }
    }
}

/// Reads a field that must be there, even where it is null.
pub(super) fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    field: D,
) -> Result<Option<T>, D::Error> {
    Option::deserialize(field)
}

#[cfg(test)]
mod tests {
    use super::{
        super::{
            campaign_opt_in::OptInEvidence, level_evidence::LevelEvidence, product::UpdateEvidence,
            store_page::PageEvidence, tests::effect,
        },
        *,
    };

    fn reads<E: Evidence>(text: &str) -> bool {
        read::<E>(&effect(E::KIND, Some(text), EffectState::Sent)).is_ok()
    }

    #[test]
    fn a_list_of_nothing_proves_nothing() {
        assert!(!reads::<OptInEvidence>(r#"{"campaign":7,"listings":[]}"#));
        assert!(!reads::<UpdateEvidence>(r#"{"product":"P","data":{}}"#));
        assert!(!reads::<PageEvidence>(r#"{"logo":"x"}"#));
    }

    #[test]
    fn evidence_of_a_later_version_is_not_read() {
        let of_version =
            |version: &str| LevelEvidence::EARLIER_ROW.replacen('{', &format!("{{\"v\":{version},"), 1);
        assert!(reads::<LevelEvidence>(&of_version(&VERSION.to_string())));
        for version in ["0", "2", "null", "\"1\"", "1.5"] {
            assert!(!reads::<LevelEvidence>(&of_version(version)), "{version}");
        }
    }

    #[test]
    fn evidence_of_another_kind_is_not_read() {
        let row = Some(LevelEvidence::EARLIER_ROW);
        assert!(reads::<LevelEvidence>(LevelEvidence::EARLIER_ROW));
        assert_eq!(read::<LevelEvidence>(&effect("stock.adjust", row, EffectState::Sent)), Err(Unreadable));
        assert_eq!(read::<LevelEvidence>(&effect("stock.set", None, EffectState::Sent)), Err(Unreadable));
    }
}
