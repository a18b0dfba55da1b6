//! Checks who holds the store, and opens the access to the marketplace with its token.

use std::path::Path;

use espelho_model::text;
use espelho_store::LockHolder;
use espelho_sync_engine::{Problem, Trouble};
use serde_json::Value;

use super::{
    access::Access,
    database::name,
    facts::{Database, StoreFacts},
    finding::{Finding, SkipReason},
    throwaway,
};
use crate::{commands::reading::is_same_file, context::is_service, place::Place, status::process};

pub(super) async fn look(store: &StoreFacts<'_>) -> Finding {
    let database = match store.all.database.get() {
        Some(Database::Open(database)) => database,
        Some(Database::NotYet) if has_mistakes(store) => return withheld(store),
        Some(Database::NotYet) => {
            if let Ok(client) = throwaway::client(store).await {
                let _ = store.access.set(Access::Fresh(Box::new(client)));
            }
            return Finding::absent(text!("doctor-database-none"));
        }
        // The database may contain a valid token: only the service says if it has the store.
        Some(Database::Denied) | None => return told_by_service(store),
    };
    let holder = match database.leases().lock_holder(&store.config.key).await {
        Ok(holder) => holder,
        Err(error) => return failed(&error),
    };
    let Some(holder) = holder else {
        if has_mistakes(store) {
            return withheld(store);
        }
        return match database.leases().is_restored(&store.config.key).await {
            Ok(is_restored) if is_withheld(is_restored, store.all.login) => {
                let _ = store.access.set(Access::Withheld(SkipReason::Restored));
                Finding::absent(text!("doctor-lock-restored"))
            }
            Ok(_) => take(store).await,
            Err(error) => failed(&error),
        };
    };
    let owner = owner_of(&holder, store.all.status().is_some(), store.status().map(|told| &told["ours"]));
    if owner == Owner::Service {
        let listen = store.all.configuration.installation.http.listen;
        let _ = store.access.set(Access::Service(listen, store.config.key.clone()));
    }
    judge(owner, holder)
}

/// Beside mistakes only the service calls the marketplace: two stores may have one credential, in files of which one
/// cannot be read, and a login for either ends the other's token.
fn has_mistakes(store: &StoreFacts<'_>) -> bool {
    store.all.mistakes.are_any()
}

/// Finds out from the service alone who has the store.
fn told_by_service(store: &StoreFacts<'_>) -> Finding {
    if store.status().is_none_or(|told| told["ours"] != true) || !is_of_database(store) {
        return Finding::skipped(store.all.no_database());
    }
    let listen = store.all.configuration.installation.http.listen;
    let _ = store.access.set(Access::Service(listen, store.config.key.clone()));
    Finding::green(text!("doctor-lock-told"))
}

/// Tells if the service that answers works on the configured database: nothing else shows it where that cannot be read.
fn is_of_database(store: &StoreFacts<'_>) -> bool {
    let place = Place::meant(&store.all.configuration);
    let told = store.all.status().and_then(|told| told["service"]["file"].as_str());
    match (told, place.file()) {
        (Some(told), Some(file)) => is_same_file(Some(Path::new(told)), Some(file)),
        (told, file) => told.is_none() && file.is_none(),
    }
}

fn withheld(store: &StoreFacts<'_>) -> Finding {
    let _ = store.access.set(Access::Withheld(SkipReason::Mistakes));
    Finding::absent(text!("doctor-mistakes-no-login"))
}

fn failed(error: &espelho_store::Error) -> Finding {
    let cause = Problem::from_store(error).text;
    Finding::red(text!("doctor-database-failed", address = "", cause = cause))
}

/// Tells whether doctor leaves a free store alone. A restored one has no token, so that each call would log in, and each
/// login ends the token of the installation that made the backup. A person who asks for a login means it.
fn is_withheld(is_restored: bool, login: bool) -> bool {
    is_restored && !login
}

/// Takes the lease, so that nobody else uses the token meanwhile. It registers the webhook only where that is asked for.
async fn take(store: &StoreFacts<'_>) -> Finding {
    let mut config = store.config.clone();
    config.webhook = config.webhook.filter(|_| store.all.registers.as_ref() == Some(&config.key));
    let taken = match store.all.shared().await {
        Ok(shared) => shared.context(&config).await,
        Err(problem) => Err(problem),
    };
    match taken {
        Ok(context) => {
            let _ = store.access.set(Access::Own(Box::new(context)));
            judge_free(store.all.status(), store.config.key.as_str())
        }
        Err(problem) if problem.trouble == Trouble::Held => {
            Finding::yellow(text!("doctor-lock-taken", cause = problem.text))
        }
        Err(problem) => Finding::red(text!("doctor-lock-failed", cause = problem.text, file = store.file())),
    }
}

/// Judges a store that no process held, by the answer of the service that runs here: one that does not list the store
/// has a configuration from before it. One without any store has not read its database yet.
fn judge_free(told: Option<&Value>, key: &str) -> Finding {
    let listed = told.and_then(|told| told["stores"].as_array()).filter(|stores| !stores.is_empty());
    match listed.is_none_or(|stores| stores.iter().any(|store| store["store"] == key)) {
        true => Finding::green(text!("doctor-lock-free")),
        false => Finding::yellow(text!("doctor-lock-not-loaded")),
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
fn owner_of(holder: &LockHolder, service_runs: bool, ours: Option<&Value>) -> Owner {
    let is_service = holder.owner.as_deref().is_some_and(is_service);
    match (&holder.owner, ours.and_then(Value::as_bool)) {
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
    use espelho_model::text::Locale;
    use espelho_store::Process;
    use serde_json::json;

    use super::{super::finding::State, *};

    #[test]
    fn a_restored_store_is_left_alone_unless_a_login_is_asked_for() {
        for (is_restored, login, expected) in
            [(true, false, true), (true, true, false), (false, false, false), (false, true, false)]
        {
            assert_eq!(is_withheld(is_restored, login), expected, "{is_restored} {login}");
        }
    }

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

    #[test]
    fn a_free_store_that_the_running_service_does_not_list_is_yellow_until_it_is_reloaded() {
        for (told, state) in [
            (None, State::Green),
            (Some(json!({"stores": [{"store": "loja-1"}, {"store": "loja-2"}]})), State::Green),
            (Some(json!({"stores": [{"store": "loja-1"}]})), State::Yellow),
            // A service whose database does not answer yet, and one of another version.
            (Some(json!({"stores": []})), State::Green),
            (Some(json!({})), State::Green),
        ] {
            let finding = judge_free(told.as_ref(), "loja-2");
            assert_eq!(finding.state, state, "{told:?}");
            let next = finding.found.next(Locale::default());
            assert_eq!(next.is_some_and(|next| next.contains("reload")), state == State::Yellow, "{told:?}");
        }
    }
}
