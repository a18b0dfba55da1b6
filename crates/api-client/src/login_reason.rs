//! Why the client logs in.

/// The reason for a login.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoginReason {
    /// No token was stored.
    First,
    /// The token is about to expire, or has expired.
    Renewal,
    /// The marketplace refused a token that should have been valid.
    Forced,
    /// The same, and the marketplace was out of reach since that token last worked: what happened there ended it, and
    /// hardly another program.
    AfterOutage,
}

impl LoginReason {
    /// Returns the word kept in the token store.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Renewal => "renewal",
            Self::Forced => "401",
            Self::AfterOutage => "outage",
        }
    }
}
