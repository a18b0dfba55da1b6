//! Accessors: one handle for each concern of [`Store`] and of [`LeaseTx`]. An accessor costs nothing: a handle is a
//! few references.

use crate::{
    Store,
    api::Api,
    driver::Database,
    inbox::Inbox,
    intents::{Commands, IntentWriter, Intents, Releases},
    journal::Journal,
    mirror::{
        Changes, FailureWriter, LabelFileWriter, LabelFiles, Lookups, Mirror, MirrorWriter, PassWriter,
        Staleness, StalenessWriter, TableWriter, page::LeaseTx,
    },
    operations::{
        Actions, Alarms, Diagnostics, Erasures, History, Notices, Overviews, Pauses, Quarantine, Runs,
        SweepWriter, Tokens,
    },
    ownership::Leases,
};

impl Store {
    /// The mirrored rows.
    pub fn mirror(&self) -> Mirror<'_> {
        Mirror { database: &self.database, clock: &self.clock, privacy: &self.privacy }
    }

    /// Rows to read again.
    pub fn staleness(&self) -> Staleness<'_> {
        Staleness { database: &self.database, clock: &self.clock, privacy: &self.privacy }
    }

    /// Single mirrored values.
    pub fn lookups(&self) -> Lookups<'_> {
        Lookups { database: &self.database, clock: &self.clock, privacy: &self.privacy }
    }

    /// The files of labels.
    pub fn label_files(&self) -> LabelFiles<'_> {
        LabelFiles { database: &self.database }
    }

    /// The change feed.
    pub fn changes(&self) -> Changes<'_> {
        Changes { database: &self.database, clock: &self.clock }
    }

    /// The levels and prices that the ERP writes.
    pub fn intents(&self) -> Intents<'_> {
        Intents { database: &self.database, clock: &self.clock, leases: self.leases(), reader: self.reader }
    }

    /// The commands.
    pub fn commands(&self) -> Commands<'_> {
        Commands { database: &self.database, clock: &self.clock }
    }

    /// Acts of operators on the page.
    pub fn actions(&self) -> Actions<'_> {
        Actions { database: &self.database, clock: &self.clock }
    }

    /// Messages to people about alarms.
    pub fn notices(&self) -> Notices<'_> {
        Notices { database: &self.database, clock: &self.clock }
    }

    /// Pauses: the work that operators have stopped for a while.
    pub fn pauses(&self) -> Pauses<'_> {
        Pauses { database: &self.database, clock: &self.clock }
    }

    /// Rows that need a person's decision.
    pub fn releases(&self) -> Releases<'_> {
        Releases { database: &self.database, inbox: &self.inbox, clock: &self.clock, reader: self.reader }
    }

    /// The journal of effects.
    pub fn journal(&self) -> Journal<'_> {
        let Self { database, inbox, clock, privacy, .. } = self;
        Journal { database, inbox, clock, privacy }
    }

    /// The inbox of webhook deliveries.
    pub fn inbox(&self) -> Inbox<'_> {
        Inbox {
            database: &self.database,
            inbox: &self.inbox,
            clock: &self.clock,
            notifications: &self.notifications,
            privacy: &self.privacy,
            waiting: &self.waiting,
        }
    }

    /// The leases of stores.
    pub fn leases(&self) -> Leases<'_> {
        let Self { database, clock, locks, notifications, privacy, .. } = self;
        Leases { database, clock, locks, notifications, privacy }
    }

    /// The tables as the HTTP API reads and writes them.
    pub fn api(&self) -> Api<'_> {
        Api { database: &self.database, clock: &self.clock }
    }

    /// Heartbeats and alarms.
    pub fn alarms(&self) -> Alarms<'_> {
        Alarms { database: &self.database }
    }

    /// Runs and sweeps.
    pub fn runs(&self) -> Runs<'_> {
        Runs { database: &self.database, clock: &self.clock }
    }

    /// Tokens and logins.
    pub fn tokens(&self) -> Tokens<'_> {
        Tokens { database: &self.database, private: private(self) }
    }

    /// Summaries for people and metrics.
    pub fn overview(&self) -> Overviews<'_> {
        Overviews {
            database: &self.database,
            inbox: &self.inbox,
            private: private(self),
            clock: &self.clock,
            reader: self.reader,
            counting: &self.counting,
        }
    }

    /// Everything on record about one thing.
    pub fn history(&self) -> History<'_> {
        History { database: &self.database, inbox: &self.inbox, journal: self.journal(), reader: self.reader }
    }

    /// Inputs whose work ended in a panic, or with the process.
    pub fn quarantine(&self) -> Quarantine<'_> {
        Quarantine { database: &self.database, inbox: &self.inbox, clock: &self.clock }
    }

    /// Erasures of people.
    pub fn erasures(&self) -> Erasures<'_> {
        let Self { database, inbox, clock, notifications, .. } = self;
        Erasures { database, inbox, clock, notifications }
    }

    /// Checks of the database.
    pub fn diagnostics(&self) -> Diagnostics<'_> {
        Diagnostics { database: &self.database, inbox: &self.inbox }
    }
}

/// The database that holds the tokens. On SQLite it is not the file that the ERP opens.
fn private(store: &Store) -> &Database {
    if store.file().is_some() { &store.inbox } else { &store.database }
}

impl<'l> LeaseTx<'l> {
    /// Writes mirrored rows.
    pub fn mirror(&mut self) -> MirrorWriter<'_, 'l> {
        MirrorWriter { page: self }
    }

    /// Records the files of labels.
    pub fn label_files(&mut self) -> LabelFileWriter<'_, 'l> {
        LabelFileWriter { page: self }
    }

    /// Records rows that the mirror could not take.
    pub fn failures(&mut self) -> FailureWriter<'_, 'l> {
        FailureWriter { page: self }
    }

    /// Records the progress of a pass.
    pub fn passes(&mut self) -> PassWriter<'_, 'l> {
        PassWriter { page: self }
    }

    /// Records when rows were read, and which are missing.
    pub fn staleness(&mut self) -> StalenessWriter<'_, 'l> {
        StalenessWriter { page: self }
    }

    /// Writes answers onto the ERP's rows.
    pub fn intents(&mut self) -> IntentWriter<'_, 'l> {
        IntentWriter { page: self }
    }

    /// Records sweeps, counts and audits.
    pub fn sweeps(&mut self) -> SweepWriter<'_, 'l> {
        SweepWriter { page: self }
    }

    /// Writes rows of the tables by description.
    pub(crate) fn tables(&mut self) -> TableWriter<'_, 'l> {
        TableWriter { page: self }
    }
}
