use chrono::{DateTime, TimeDelta, Utc};
use espelho_model::{
    StoreKey,
    pause::{Pause, PauseScope},
    symptom::{DatabaseRefusal, Symptom},
    text::{Language, Locale, Text},
};

use super::*;

mod access;
mod backups;
mod configuration;
mod incoming;
mod rows;

fn now() -> DateTime<Utc> {
    DateTime::from_timestamp(1_795_000_000, 0).unwrap()
}

fn ago(seconds: i64) -> DateTime<Utc> {
    now() - TimeDelta::seconds(seconds)
}

/// Returns a store without trouble.
fn store(key: &str) -> StoreObservation {
    StoreObservation {
        key: StoreKey::new(key).unwrap(),
        base_url: "https://m.test".into(),
        owner: Owner::Here(ago(3_600)),
        answered_at: Some(ago(10)),
        contact: None,
        failing_routes: None,
        unreadable: Vec::new(),
        credential: None,
        held_up_at: None,
        is_password_unproved: false,
        unreadable_password: None,
        missing_scopes: Vec::new(),
        refused_writes: None,
        ahead_seconds: Some(1),
        webhook: Some(WebhookObservation { heard_at: Some(ago(40)), ..WebhookObservation::default() }),
        token_expires_at: Some(now() + TimeDelta::days(20)),
        rows: Vec::new(),
        inbox: None,
        unseen: None,
        sweeps: vec![SweepObservation {
            kind: "new_orders",
            every_seconds: 60,
            succeeded_at: Some(ago(30)),
            has_failed: false,
        }],
        behind: Vec::new(),
        differing: Vec::new(),
        complete_at: Some(ago(3_000)),
        run_problem: None,
        deadlines: Vec::new(),
        fiscal: None,
        pauses: Vec::new(),
    }
}

fn seen(stores: Vec<StoreObservation>) -> Observations {
    Observations {
        at: now(),
        service: ServiceObservation::Running,
        written_at: Some(ago(5)),
        database: None,
        schema_defects: [].into(),
        free_bytes: Some(1 << 33),
        database_file: None,
        refused_configuration: None,
        backups: Vec::new(),
        stores,
        strangers: None,
        channels: Vec::new(),
    }
}

/// Returns the state and the codes after a change to a store without trouble.
fn of(change: impl FnOnce(&mut StoreObservation)) -> (State, Vec<&'static str>) {
    let mut store = store("a");
    change(&mut store);
    codes(&seen(vec![store]))
}

fn codes(seen: &Observations) -> (State, Vec<&'static str>) {
    let verdict = decide(seen);
    (verdict.state, verdict.alarms.iter().map(|alarm| alarm.code.as_str()).collect())
}

fn contact(kind: ContactKind, seconds: i64) -> Option<ContactTrouble> {
    let symptom = Symptom::Status(503);
    Some(ContactTrouble { kind, since: ago(seconds), symptom, detail: "answered 503".into(), routes: vec![] })
}

fn rows(state: RowState, code: &str, count: u64, seconds: i64) -> Rows {
    Rows {
        state,
        code: code.into(),
        count,
        since: Some(ago(seconds)),
        example: "stock CAN-01/3".into(),
        words: Text::new("w"),
    }
}

// withstands: F134
#[test]
fn a_state_is_ok_only_with_fresh_proof() {
    assert_eq!(of(|_| ()), (State::Ok, vec![]));
    assert_eq!(of(|store| store.answered_at = Some(ago(181))).0, State::Unknown, "the answer is too old");
    assert_eq!(of(|store| store.answered_at = Some(ago(-7_200))).0, State::Unknown, "the clock was set back");
    assert_eq!(of(|store| store.answered_at = None).0, State::Unknown, "nobody has answered yet");
    for (answered, expected) in [(None, "unproved-marketplace-yet"), (Some(ago(181)), "unproved-marketplace")]
    {
        let verdict = decide(&seen(vec![StoreObservation { answered_at: answered, ..store("a") }]));
        assert_eq!(verdict.unproved.iter().map(Text::id).collect::<Vec<_>>(), [expected]);
    }
    for (kind, seconds, expected) in [
        (ContactKind::Unreachable, 4, State::Ok),
        (ContactKind::Unreachable, 5, State::Unknown),
        (ContactKind::Errors, 14, State::Unknown),
        (ContactKind::Throttled, 14, State::Ok),
        (ContactKind::Errors, 15, State::Failing),
    ] {
        let found = of(|store| store.contact = contact(kind, seconds)).0;
        assert_eq!(found, expected, "{kind:?} for {seconds} s");
    }
    assert_eq!(of(|store| store.complete_at = None).0, State::Unknown, "the mirror was never complete");
    assert_eq!(of(|store| store.owner = Owner::Nobody(None)).0, State::Unknown, "nobody works on it");
    let open = Some(WebhookObservation { is_open: true, ..WebhookObservation::default() });
    assert_eq!(
        of(|store| store.webhook = open).0,
        State::Unknown,
        "the last test was under way at the restart"
    );
    assert_eq!(of(|store| store.owner = Owner::Elsewhere).0, State::Ok, "its owner says how it is");
    let unwritten = Observations { written_at: Some(ago(181)), ..seen(vec![store("a")]) };
    assert_eq!(decide(&unwritten).state, State::Unknown);
    assert_eq!(decide(&unwritten).unproved.len(), 1);
}

// withstands: F134
#[test]
fn trouble_that_lasts_is_named_by_its_cause_and_nothing_else_is() {
    let late = |store: &mut StoreObservation| {
        store.sweeps[0].succeeded_at = Some(ago(9_000));
        store.inbox = Some((7, ago(9_000)));
    };
    for (kind, code) in [
        (ContactKind::Unreachable, "marketplace_unreachable"),
        (ContactKind::Errors, "marketplace_errors"),
        (ContactKind::Throttled, "throttled"),
    ] {
        let of_trouble = |seconds| {
            of(|store| {
                late(store);
                store.contact = contact(kind, seconds);
            })
        };
        assert_eq!(of_trouble(15), (State::Failing, vec![code]));
        assert_eq!(of_trouble(14), (State::Warning, vec!["late"]), "it may pass, and explains nothing yet");
    }
    for (kind, code) in
        [(CredentialKind::Refused, "credential_refused"), (CredentialKind::Foreign, "foreign_login")]
    {
        let found = of(|store| {
            late(store);
            let place = "/etc/espelho/stores/a.password".into();
            store.credential = Some(CredentialTrouble {
                kind,
                has_token: false,
                since: ago(1),
                place,
                refused_fields: None,
            });
        });
        assert_eq!(found, (State::Failing, vec![code]));
    }
    assert_eq!(of(late).1, ["late"], "without such a cause it is late");
    let over = |seconds| {
        of(|store| {
            late(store);
            store.held_up_at = Some(ago(seconds));
        })
        .1
    };
    assert_eq!(over(1), Vec::<&str>::new(), "the cause has just ended");
    assert_eq!(over(89), Vec::<&str>::new(), "it makes up for it");
    assert_eq!(over(90), ["late"], "it had the time");
    assert_eq!(over(-7_200), ["late"], "the clock was set back");
}

#[test]
fn routes_that_fail_while_others_work_are_named_and_a_whole_outage_comes_before_them() {
    let errors = |whole: Option<ContactTrouble>, seconds| {
        let routes = vec!["GET /products".to_owned()];
        let failing =
            contact(ContactKind::Errors, seconds).map(|failing| ContactTrouble { routes, ..failing });
        let verdict =
            decide(&seen(vec![StoreObservation { contact: whole, failing_routes: failing, ..store("a") }]));
        verdict.alarms.iter().map(|alarm| (alarm.code, alarm.text.id().to_owned())).collect::<Vec<_>>()
    };
    let whole = |code, key: &str| vec![(code, key.to_owned())];
    assert_eq!(errors(None, 14), []);
    let of_routes = || whole(Code::MarketplaceErrors, "alarm-marketplace-routes-fail");
    assert_eq!(errors(None, 15), of_routes());
    assert_eq!(errors(contact(ContactKind::Errors, 14), 90), of_routes(), "it may pass");
    assert_eq!(
        errors(contact(ContactKind::Errors, 15), 90),
        whole(Code::MarketplaceErrors, "alarm-marketplace-errors")
    );
    assert_eq!(
        errors(contact(ContactKind::Unreachable, 15), 90),
        whole(Code::MarketplaceUnreachable, "alarm-marketplace-unreachable")
    );
}

#[test]
fn a_marketplace_that_is_down_is_one_alarm_for_all_its_stores() {
    let down = |key, address: &str| StoreObservation {
        base_url: address.into(),
        contact: contact(ContactKind::Unreachable, 60),
        ..store(key)
    };
    let verdict = decide(&seen(vec![down("a", "https://m"), down("b", "https://m"), down("c", "https://n")]));
    let told = verdict.alarms.iter().map(|alarm| (alarm.store.as_ref().map(StoreKey::as_str), alarm.count));
    assert_eq!(told.collect::<Vec<_>>(), [(None, 2), (Some("c"), 1)]);
}

#[test]
fn the_database_the_disk_and_the_clock_are_named() {
    let database = |kind, seconds, free: u64| {
        let (symptom, detail) = (Symptom::NoConnection, "Connection refused (os error 111)".into());
        let trouble = DatabaseTrouble { kind, since: ago(seconds), symptom, detail, holder: None };
        codes(&Observations { database: Some(trouble), free_bytes: Some(free), ..seen(vec![store("a")]) }).1
    };
    let memory_budget = 1 << 30;
    assert_eq!(database(DatabaseKind::Full, 0, memory_budget), ["disk_full"]);
    assert_eq!(database(DatabaseKind::Busy, 20, memory_budget), ["database_busy"]);
    assert_eq!(database(DatabaseKind::Busy, 19, memory_budget), [""; 0], "a transaction may take its time");
    assert_eq!(database(DatabaseKind::Unreachable, 20, memory_budget), ["database_unreachable"]);
    assert_eq!(database(DatabaseKind::Unreachable, 19, memory_budget), [""; 0], "it may come back at once");
    assert_eq!(database(DatabaseKind::ReadOnly, 0, memory_budget), ["database_read_only"]);
    assert_eq!(database(DatabaseKind::Replaced, 0, memory_budget), ["database_replaced"]);
    assert_eq!(database(DatabaseKind::Busy, 20, 5 << 20), ["disk_full"], "the disk explains it");
    for (ahead, severity) in [
        (60, None),
        (-61, Some(Severity::Warning)),
        (301, Some(Severity::Failing)),
        (-7_200, Some(Severity::Failing)),
    ] {
        let mut store = store("a");
        store.ahead_seconds = Some(ahead);
        let found = decide(&seen(vec![store])).alarms.first().map(|alarm| (alarm.code, alarm.severity));
        assert_eq!(found, severity.map(|severity| (Code::ClockWrong, severity)), "{ahead}");
    }
}

#[test]
fn a_service_that_is_silent_is_all_that_is_told_of_the_marketplace() {
    let mut store = store("a");
    store.contact = contact(ContactKind::Errors, 60);
    store.sweeps[0].succeeded_at = Some(ago(9_000));
    store.rows = vec![rows(RowState::Held, "price_jump", 1, 5)];
    let silent = Observations { service: ServiceObservation::Silent(Some(ago(70))), ..seen(vec![store]) };
    assert_eq!(codes(&silent), (State::Failing, vec!["service_stopped", "held"]));
}

// withstands: F087
#[test]
fn a_time_in_the_future_proves_nothing() {
    const AHEAD: i64 = -7_200;
    let swept = |at: i64, held: i64| {
        of(|store| {
            (store.sweeps[0].succeeded_at, store.owner) = (Some(ago(at)), Owner::Here(ago(held)));
        })
        .1
    };
    for (succeeded, held, expected, why) in [
        (30, 3_600, &[][..], "it was just read"),
        (-30, 3_600, &[], "another machine's clock"),
        (AHEAD, 3_600, &["late"], "not since the service has it"),
        (AHEAD, 200, &[], "the service has just taken it"),
        (AHEAD, AHEAD, &[], "nothing is known"),
    ] {
        assert_eq!(swept(succeeded, held), expected, "{why}");
    }
    let complete = |held: i64| {
        of(|store| {
            (store.complete_at, store.owner) = (Some(ago(AHEAD)), Owner::Here(ago(held)));
        })
        .1
    };
    assert!(complete(3_600).is_empty() && complete(25 * 3_600 + 1) == ["late"]);
    let trouble = |since: i64| of(|store| store.contact = contact(ContactKind::Errors, since)).1;
    assert_eq!(
        (trouble(-5), trouble(AHEAD)),
        (vec![], vec!["marketplace_errors"]),
        "it began before the clock was set"
    );
}

#[test]
fn late_is_the_worst_of_what_is_behind_its_promise() {
    assert_eq!(of(|store| store.inbox = Some((1, ago(120)))).1, [""; 0]);
    assert_eq!(of(|store| store.inbox = Some((1, ago(121)))), (State::Warning, vec!["late"]));
    assert_eq!(of(|store| store.unseen = Some((9, ago(301)))).1, ["late"]);
    assert_eq!(of(|store| store.sweeps[0].succeeded_at = Some(ago(300))).1, [""; 0]);
    assert_eq!(of(|store| store.sweeps[0].succeeded_at = Some(ago(301))).1, ["late"]);
    assert_eq!(of(|store| store.complete_at = Some(ago(25 * 3_600 + 1))).1, ["late"]);
    let begun = of(|store| {
        store.owner = Owner::Here(ago(60));
        store.sweeps[0].succeeded_at = Some(ago(90_000));
    });
    assert_eq!(begun.1, [""; 0], "what was not read while the service was off is read now");
    assert_eq!(of(|store| store.run_problem = Some(Text::new("w"))).1, ["run_failed"]);
}

fn pause(scope: PauseScope, begun: i64, ends: i64) -> Pause {
    let (since, until) = (ago(begun), now() + TimeDelta::seconds(ends));
    Pause { store: StoreKey::new("a").unwrap(), scope, since, until, paused_by: "ana".into() }
}

#[test]
fn a_pause_is_a_warning_until_its_end_and_what_it_holds_is_not_late() {
    let old = |store: &mut StoreObservation| {
        store.inbox = Some((1, ago(9_000)));
        store.unseen = Some((9, ago(9_000)));
        store.sweeps[0].succeeded_at = Some(ago(9_000));
    };
    let paused = |scope, begun, ends| {
        of(|store| {
            old(store);
            store.pauses = vec![pause(scope, begun, ends)];
        })
    };
    assert_eq!(paused(PauseScope::All, 9_000, 60), (State::Warning, vec!["paused"]));
    for scope in [PauseScope::Pull, PauseScope::Push, PauseScope::Webhooks] {
        assert_eq!(paused(scope, 9_000, 60).1, ["late", "paused"], "the rest is late: {scope:?}");
    }
    assert_eq!(paused(PauseScope::All, 9_000, -1).1, [""; 0], "it is made up now");
    assert_eq!(paused(PauseScope::All, 9_000, -301).1, ["late"], "it should be made up by now");
    for scope in [PauseScope::Pull, PauseScope::Push, PauseScope::Webhooks] {
        assert_eq!(paused(scope, 9_000, -1).1, ["late"], "what it did not hold is late: {scope:?}");
    }
    let not_complete = |scope| {
        of(|store| {
            store.complete_at = Some(ago(200_000));
            store.pauses = vec![pause(scope, 9_000, -60)];
        })
        .1
    };
    assert_eq!(not_complete(PauseScope::Pull), [""; 0]);
    assert_eq!(not_complete(PauseScope::Push), ["late"], "sending has nothing to do with it");
}

#[test]
fn stores_that_were_paused_together_are_one_alarm() {
    let paused = |key: &str, ends| {
        let store = StoreKey::new(key).unwrap();
        StoreObservation {
            pauses: vec![Pause { store, ..pause(PauseScope::Push, 5, ends) }],
            ..self::store(key)
        }
    };
    let verdict = decide(&seen(vec![paused("a", 60), paused("b", 60), paused("c", 90)]));
    let told = verdict.alarms.iter().map(|alarm| (alarm.store.as_ref().map(StoreKey::as_str), alarm.count));
    assert_eq!(told.collect::<Vec<_>>(), [(None, 2), (Some("c"), 1)]);
}

#[test]
fn deadlines_are_told_by_kind() {
    let deadline = |past, near| {
        of(|store| {
            let (kind, first) = ("ship_by".to_owned(), ("000123".to_owned(), ago(60)));
            store.deadlines = vec![Deadlines { kind, past, near, first }];
        })
    };
    assert_eq!(deadline(0, 0), (State::Ok, vec![]));
    assert_eq!(deadline(0, 2), (State::Warning, vec!["deadline"]));
    assert_eq!(deadline(1, 2), (State::Failing, vec!["deadline"]));
}

#[test]
fn orders_that_pile_up_at_the_fiscal_gate_are_told() {
    for (fiscal, expected) in [
        (None, vec![]),
        (Some((0, 0)), vec![]),
        (Some((10, 0)), vec![]),
        (Some((11, 0)), vec!["fiscal_gate"]),
        (Some((200, 200)), vec![]),
        (Some((201, 200)), vec!["fiscal_gate"]),
    ] {
        assert_eq!(of(|store| store.fiscal = fiscal).1, expected, "{fiscal:?}");
    }
}

#[test]
fn every_alarm_has_words_and_a_next_step_in_both_languages() {
    let mut all = seen(vec![store("a"), store("b")]);
    all.strangers = Some(rows(RowState::Failed, "unknown_store", 2, 5));
    all.stores[0].deadlines =
        vec![Deadlines { kind: "ship_by".into(), past: 1, near: 0, first: ("000123".into(), ago(5)) }];
    all.stores[0].rows =
        [RowState::Failed, RowState::Noted, RowState::Held, RowState::Doubtful, RowState::Waiting]
            .map(|state| rows(state, state_name(state), 1, 9_000))
            .to_vec();
    all.stores[1].contact = contact(ContactKind::Errors, 60);
    all.stores[1].ahead_seconds = Some(900);
    all.stores[1].fiscal = Some((30, 12));
    all.stores[0].pauses = vec![pause(PauseScope::All, 5, 60)];
    all.channels = vec![channel(300)];
    for alarm in decide(&all).alarms {
        for language in Language::ALL {
            let (words, next) =
                (alarm.text.message(Locale::of(language)), alarm.text.next(Locale::of(language)));
            assert!(alarm.text.is_known() && !words.contains('{') && !words.contains('$'), "{words}");
            assert!(next.is_some_and(|next| !next.contains('{')), "{}", alarm.text.id());
        }
    }
}

fn state_name(state: RowState) -> &'static str {
    match state {
        RowState::Failed => "failed",
        RowState::Noted => "noted",
        RowState::Held => "held",
        RowState::Doubtful => "doubtful",
        RowState::Waiting => "waiting",
    }
}

#[test]
fn a_schema_that_differs_is_one_alarm_with_the_first_names() {
    let defects: Vec<String> = (0..7).map(|number| format!("view v_{number}")).collect();
    let verdict = decide(&Observations { schema_defects: defects.into(), ..seen(vec![store("a")]) });
    let [alarm] = &verdict.alarms[..] else { panic!("{:?}", verdict.alarms) };
    assert_eq!((alarm.code, alarm.count, verdict.state), (Code::SchemaChanged, 7, State::Failing));
    let said = alarm.text.message(Locale::of(Language::English));
    assert!(said.contains("view v_0, view v_1") && !said.contains("v_5"), "{said}");
}

fn channel(seconds: i64) -> ChannelTrouble {
    let (symptom, detail) = (Symptom::NoConnection, "connection refused".to_owned());
    ChannelTrouble { channel: "smtp".into(), since: ago(seconds), symptom, detail }
}

#[test]
fn a_channel_of_messages_that_fails_for_two_minutes_is_a_warning() {
    for (seconds, expected) in [(119, State::Ok), (120, State::Warning)] {
        let verdict = decide(&Observations { channels: vec![channel(seconds)], ..seen(vec![store("a")]) });
        assert_eq!(verdict.state, expected, "{seconds}");
        let told: Vec<_> = verdict.alarms.iter().map(|alarm| (alarm.code, alarm.cause.as_str())).collect();
        assert!(told.iter().all(|told| *told == (Code::NoticeFailed, "smtp")), "{told:?}");
    }
}

// withstands: F134
#[test]
fn an_alarm_says_in_the_readers_language_how_something_fails_and_keeps_the_words_of_a_library_apart() {
    let mut down = store("a");
    down.contact = contact(ContactKind::Unreachable, 60);
    let alarm = decide(&seen(vec![down])).alarms.remove(0);
    let said = alarm.text.message(Locale::of(Language::Portuguese));
    assert!(said.contains("respondeu com HTTP 503") && !said.contains("answered"), "{said}");
    assert_eq!(alarm.detail, "answered 503");
}

#[test]
fn a_database_that_has_taken_no_write_for_seconds_is_not_known_to_be_well() {
    for (seconds, state) in [(4, State::Ok), (5, State::Unknown), (19, State::Unknown), (20, State::Failing)]
    {
        let (kind, symptom, detail) = (DatabaseKind::Busy, Symptom::NoConnection, "locked".to_owned());
        let database = Some(DatabaseTrouble { kind, since: ago(seconds), symptom, detail, holder: None });
        let decided = decide(&Observations { database, ..seen(vec![store("a")]) });
        assert_eq!(decided.state, state, "{seconds} s");
    }
}

#[test]
fn a_database_that_refuses_is_told_in_words_with_its_code_last_and_its_own_next_step() {
    for (symptom, expected, step) in [
        (
            Symptom::Database(DatabaseRefusal::Closed, "55000".into()),
            "O banco de dados não pode ser usado: ele não aceita mais conexões (55000).",
            "ALLOW_CONNECTIONS true",
        ),
        (
            Symptom::Refused("XX999".into()),
            "O banco de dados não aceita gravações: respondeu com o erro XX999.",
            "espelho doctor",
        ),
    ] {
        let (kind, since, detail) = (DatabaseKind::Unreachable, ago(60), "its own words".to_owned());
        let database = Some(DatabaseTrouble { kind, since, symptom, detail, holder: None });
        let alarm = decide(&Observations { database, ..seen(vec![store("a")]) }).alarms.remove(0);
        let next = alarm.text.next(Locale::default()).unwrap();
        assert_eq!(alarm.text.message(Locale::default()), expected);
        assert!(next.contains(step) && next.ends_with("o espelho continua sozinho"), "{next}");
    }
}

#[test]
fn a_locked_database_names_the_session_and_the_command_that_ends_it() {
    let holder = DatabaseHolder::Session {
        id: "3055".into(),
        user: "espelho".into(),
        application: "erp-noturno".into(),
        table: "orders".into(),
    };
    let (symptom, detail) = (Symptom::TimedOut, "table lock".to_owned());
    let (kind, since) = (DatabaseKind::Busy, ago(60));
    let database = Some(DatabaseTrouble { kind, since, symptom, detail, holder: Some(holder) });
    let text = decide(&Observations { database, ..seen(vec![store("a")]) }).alarms.remove(0).text;
    let (said, next) = (text.message(Locale::default()), text.next(Locale::default()).unwrap());
    assert!(said.contains("sessão 3055 do usuário espelho (programa: erp-noturno)"), "{said}");
    assert!(next.contains("SELECT pg_terminate_backend(3055);"), "{next}");
}
