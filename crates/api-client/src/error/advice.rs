//! What people are told about an error: a code for tables, and what to do next.

use super::{Documented, Error};

impl Error {
    /// A short stable code for tables and reports.
    pub fn code(&self) -> String {
        match self {
            Self::Setup(_) => "setup".into(),
            Self::Unreachable { .. } => "unreachable".into(),
            Self::Interrupted { .. } => "interrupted".into(),
            Self::TooLarge { .. } => "too_large".into(),
            Self::Unreadable { .. } => "unreadable".into(),
            Self::Unexpected { .. } => "unexpected".into(),
            Self::AddressRefused { .. } => "address_refused".into(),
            Self::AddressExpired { .. } => "address_expired".into(),
            Self::FileRefused { status, .. } => format!("file_http_{status}"),
            Self::Refused { status, refusal, .. } if refusal.message_code.is_empty() => {
                format!("http_{status}")
            }
            Self::Refused { refusal, .. } => refusal.message_code.clone(),
            Self::LoginRefused { .. } => "login_refused".into(),
            Self::LoginFailed { source, .. } if matches!(**source, Self::Unreachable { .. }) => {
                "unreachable".into()
            }
            Self::LoginFailed { source, .. } if source.is_not_ours() => source.code(),
            Self::LoginFailed { .. } => "login_failed".into(),
            Self::ForeignLogin { .. } => "foreign_login".into(),
            Self::NotOurs { .. } => "held".into(),
            Self::Vault { .. } | Self::Ledger { .. } => "database".into(),
        }
    }

    /// What to do about it, in one sentence.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Setup(_) => "correct the store's file and run `espelho check`",
            Self::Unreachable { .. } => {
                "check base_url, DNS and the network, then run again: it resumes where it stopped"
            }
            Self::Interrupted { .. } => {
                "the marketplace or the network broke off; run again later, it resumes where it stopped"
            }
            Self::TooLarge { .. } => "tell the marketplace's support which address answers so much",
            Self::Unreadable { .. } => {
                "something other than the API answered (a proxy, a maintenance page); check base_url or run again later"
            }
            Self::Unexpected { .. } => {
                "the marketplace's API differs from its document here: report it with this message"
            }
            Self::AddressRefused { .. } => {
                "outside the sandbox files are fetched by https from other machines only: tell the marketplace's support"
            }
            Self::AddressExpired { .. } => {
                "ask the marketplace for a new address of the file; each is good for 15 minutes"
            }
            Self::FileRefused { .. } => {
                "the object storage behind the marketplace has a fault; ask for a new address of the file later"
            }
            Self::Refused { status, .. } => match self.kind() {
                None | Some(Documented::Unknown) => hint_of_status(*status),
                Some(kind) => kind.hint(),
            },
            Self::LoginFailed { source, .. } => source.hint(),
            Self::LoginRefused { .. } => {
                "check username and password of the store's credential in the seller portal"
            }
            Self::ForeignLogin { .. } => {
                "another program logs in with this credential and ends our token each time: create one credential for each program"
            }
            Self::NotOurs { .. } => "nothing is lost: whoever has the store now goes on with it",
            Self::Vault { .. } | Self::Ledger { .. } => "see the database's own message",
        }
    }
}

/// What to do about a refusal of which nothing but its status is understood.
fn hint_of_status(status: u16) -> &'static str {
    match status {
        500.. => "the marketplace has a fault; run again later, it resumes where it stopped",
        _ => "the marketplace refuses this call as it is; see its words",
    }
}
