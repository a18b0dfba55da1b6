//! Pictures that are uploaded (`media.upload`) and added to a product's gallery (`gallery.add`). A picture that nothing
//! uses is removed by the marketplace after about 72 hours (API document, "Media image").

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Settlement, doubtful, evidence::Evidence};

/// An unused picture is not relied on any more at this age: it may be gone before it is used.
const UNUSED_FOR: TimeDelta = TimeDelta::hours(48);

/// What the journal keeps with an upload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UploadEvidence {
    /// The ids of the newest pictures before it, the newest first.
    pub before: Vec<String>,
    /// The file, as the command names it.
    pub path: Option<String>,
}

impl Evidence for UploadEvidence {
    const KIND: &'static str = "media.upload";
    const IS_REPEATABLE: bool = false;
    const EARLIER_ROW: &'static str = r#"{"before":[],"path":"foto.jpg"}"#;
}

/// What the journal keeps with a picture that is added to a gallery.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GalleryEvidence {
    /// The picture's id.
    pub image: String,
    /// The product's id.
    pub product: String,
}

impl Evidence for GalleryEvidence {
    const KIND: &'static str = "gallery.add";
    const IS_REPEATABLE: bool = false;
    const EARLIER_ROW: &'static str = r#"{"image":"I","product":"P"}"#;
}

/// What became of an upload whose answer was lost: one picture that is new since is ours; of several nobody can tell.
/// `now` has the ids of the newest pictures, the newest first.
pub fn settle_upload(evidence: &UploadEvidence, now: &[String]) -> Settlement {
    let new: Vec<&String> = now.iter().take_while(|id| !evidence.before.contains(id)).collect();
    match new.as_slice() {
        [] => Settlement::DidNotHappen { how: "no picture is new" },
        [id] => {
            Settlement::Happened { answer: Some(json!({"id": id}).to_string()), how: "one picture is new" }
        }
        _ => Settlement::Unprovable(doubtful("unprovable")),
    }
}

/// What became of an addition to a gallery whose answer was lost.
pub fn settle_addition(is_in_gallery: bool) -> Settlement {
    Settlement::of(is_in_gallery, "the picture is the product's", "the picture is not the product's")
}

/// True where a picture that was uploaded then may soon be removed, by our own clock, which was there both times.
pub fn may_be_removed(in_use: Option<bool>, uploaded_at: DateTime<Utc>, now: DateTime<Utc>) -> bool {
    in_use != Some(true) && now - uploaded_at >= UNUSED_FOR
}

#[cfg(test)]
mod tests {
    use super::{super::tests::at, *};

    // withstands: F001
    #[test]
    fn one_new_picture_is_ours_and_of_several_nobody_can_tell() {
        let settled = |before: &[&str], now: &[&str]| {
            let own = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
            settle_upload(&UploadEvidence { before: own(before), path: None }, &own(now))
        };
        assert!(matches!(settled(&["a"], &["a"]), Settlement::DidNotHappen { .. }));
        assert!(matches!(settled(&[], &[]), Settlement::DidNotHappen { .. }));
        let Settlement::Happened { answer, .. } = settled(&["a"], &["b", "a"]) else { panic!("one is new") };
        assert_eq!(answer.as_deref(), Some(r#"{"id":"b"}"#));
        assert!(matches!(settled(&["a"], &["c", "b", "a"]), Settlement::Unprovable(_)));
        assert!(matches!(settled(&[], &["b"]), Settlement::Happened { .. }), "the first of all");
        assert!(
            matches!(settled(&["a"], &["a", "b"]), Settlement::DidNotHappen { .. }),
            "older than what was known"
        );
    }

    #[test]
    fn an_unused_picture_is_not_relied_on_after_two_days_and_one_in_use_is() {
        let going_after = |hours: i64, in_use| may_be_removed(in_use, at(0), at(hours * 3_600));
        assert!(!going_after(47, Some(false)));
        assert!(going_after(48, Some(false)));
        assert!(going_after(48, None), "nothing says that it is used");
        assert!(!going_after(480, Some(true)));
    }

    #[test]
    fn a_picture_is_in_the_gallery_or_is_not() {
        assert!(matches!(settle_addition(true), Settlement::Happened { answer: None, .. }));
        assert!(matches!(settle_addition(false), Settlement::DidNotHappen { .. }));
    }
}
