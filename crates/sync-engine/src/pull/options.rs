//! The options of a pass.

/// What a pass does.
#[derive(Clone, Copy, Debug, Default)]
pub struct PassOptions {
    /// Start at the first page even if an interrupted pass could resume.
    pub restart: bool,
    /// Read every detail, even if its listing row is unchanged.
    pub deep: bool,
    /// Compare and count, change nothing.
    pub dry_run: bool,
    /// Whether the listing has all rows, so that a missing row is gone.
    pub covers_everything: bool,
    /// True if another pass over the same resource follows: this one's total would look like that of all rows.
    pub is_prelude: bool,
    /// Mark rows gone, however many they are.
    pub accept_gone: bool,
    /// Whether the live mirror reads and writes the same rows meanwhile.
    pub beside_live: bool,
}
