//! Checks who holds the store, and opens the access to the marketplace with its token.

use espelho_model::text;
use espelho_store::LockHolder;
use espelho_sync_engine::{Problem, Trouble};

use super::{
    access::Access,
    database::name,
    facts::{Database, StoreFacts},
    finding::Finding,
    throwaway,
};
use crate::{config::StoreConfig, context::is_service, status::process};

pub(super) async fn look(store: &StoreFacts<'_>) -> Finding {
    let database = match store.all.database.get() {
        Some(Database::Open(database)) => database,
        Some(Database::NotYet) => {
            if let Ok(client) = throwaway::client(store).await {
                let _ = store.access.set(Access::Fresh(Box::new(client)));
            }
            return Finding::absent(text!("doctor-database-none"));
        }
        // The database may contain a valid token.
        None => return Finding::not_seen(text!("doctor-lock-no-database")),
    };
    let holder = match database.leases().lock_holder(&store.config.key).await {
        Ok(holder) => holder,
        Err(error) => {
            let cause = Problem::from_store(&error).error;
            return Finding::red(text!("doctor-database-failed", address = "", cause = cause));
        }
    };
    let Some(holder) = holder else { return take(store).await };
    let owner = owner_of(&holder, store.all.status().is_some(), store.status().map(|told| &told["ours"]));
    if owner == Owner::Service {
        let listen = store.all.configuration.installation.http.listen;
        let _ = store.access.set(Access::Service(listen, store.config.key.clone()));
    }
    judge(owner, holder)
}

/// Takes the lease, so that nobody else uses the token meanwhile. It creates no webhook: that is the service's task.
async fn take(store: &StoreFacts<'_>) -> Finding {
    let config = StoreConfig { webhook: None, ..store.config.clone() };
    let taken = match store.all.shared().await {
        Ok(shared) => shared.context(&config).await,
        Err(problem) => Err(problem),
    };
    match taken {
        Ok(context) => {
            let _ = store.access.set(Access::Own(Box::new(context)));
            Finding::green(text!("doctor-lock-free"))
        }
        Err(problem) if problem.trouble == Trouble::Held => {
            Finding::yellow(text!("doctor-lock-taken", cause = problem.error))
        }
        Err(problem) => Finding::red(text!("doctor-lock-failed", cause = problem.error, file = store.file())),
    }
}

/// The kind of process that holds a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    /// The service that answers on this machine.
    Service,
    /// A service, while none answers on this machine: it hangs, or runs on another one.
    SilentService,
    /// Another espelho: a run, or a service on another machine.
    Espelho,
    /// Another program has locked the file.
    Stranger,
}

/// Classifies the owner. `ours` is the service's own statement; another version may not make it.
fn owner_of(holder: &LockHolder, service_runs: bool, ours: Option<&serde_json::Value>) -> Owner {
    let is_service = holder.owner.as_deref().is_some_and(is_service);
    match (&holder.owner, ours.and_then(serde_json::Value::as_bool)) {
        (_, Some(true)) => Owner::Service,
        (None, _) => Owner::Stranger,
        (Some(_), None) if service_runs && is_service => Owner::Service,
        (Some(_), None) if is_service => Owner::SilentService,
        (Some(_), _) => Owner::Espelho,
    }
}

fn judge(owner: Owner, holder: LockHolder) -> Finding {
    let number = name(Some(holder.process));
    let who = process(&holder.owner.unwrap_or_default());
    match owner {
        Owner::Service => Finding::green(text!("doctor-lock-service", owner = who)),
        Owner::SilentService => Finding::yellow(text!("doctor-lock-silent", owner = who, process = number)),
        Owner::Espelho => Finding::yellow(text!("doctor-lock-espelho", owner = who, process = number)),
        Owner::Stranger => Finding::red(text!("doctor-lock-stranger", process = number)),
    }
}

#[cfg(test)]
mod tests {
    use espelho_store::Process;
    use serde_json::json;

    use super::{super::finding::State, *};

    #[test]
    fn the_service_is_asked_where_it_has_the_store_and_others_are_named() {
        let holder = |owner: Option<&str>| LockHolder {
            process: Process { id: 7, command: Some("cp".into()) },
            owner: owner.map(str::to_owned),
        };
        let (run, resync) = ("espelho run (process 7 on a)", "espelho resync (process 7 on a)");
        for (owner, runs, ours, expected, state) in [
            (Some(run), true, Some(true), Owner::Service, State::Green),
            (Some(run), true, None, Owner::Service, State::Green),
            (Some(run), true, Some(false), Owner::Espelho, State::Yellow),
            (Some(run), false, None, Owner::SilentService, State::Yellow),
            (Some(resync), false, None, Owner::Espelho, State::Yellow),
            (Some(resync), true, Some(false), Owner::Espelho, State::Yellow),
            (None, true, Some(false), Owner::Stranger, State::Red),
            (None, false, None, Owner::Stranger, State::Red),
        ] {
            let ours = ours.map(|ours| json!(ours));
            let found = owner_of(&holder(owner), runs, ours.as_ref());
            assert_eq!(found, expected, "{owner:?} {runs} {ours:?}");
            assert_eq!(judge(found, holder(owner)).state, state);
        }
    }
}
