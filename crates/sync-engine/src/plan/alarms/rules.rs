//! The rules: when an observation becomes an alarm, and when everything has proof.

use std::collections::BTreeMap;

use crate::plan::pauses::Activity;
use chrono::{DateTime, TimeDelta, Utc};
use espelho_model::{
    symptom::host_of,
    text,
    text::{Arg, Text, words},
    time::past,
};

use super::{
    Alarm, Code, ContactKind, ContactTrouble, CredentialKind, FoundIn, Observations, OtherAddress, Owner,
    ServiceObservation, Severity, State, StoreObservation, SweepObservation, UnreadablePassword,
    UnreadableValues, Verdict, WebhookObservation, abilities, alarm, backups, database::database,
    differences, lasts, paused, rows,
};

/// The severity of trouble with a marketplace: no answer, errors or 429. No order and no level goes through.
pub const MARKETPLACE_SEVERITY: Severity = Severity::Failing;
/// Trouble with a marketplace that ends sooner raises no alarm.
pub(in crate::plan) const LASTS: TimeDelta = TimeDelta::seconds(15);
/// After this much of it the writes, or the answers, before prove nothing any more.
const DATABASE_STALLS: TimeDelta = TimeDelta::seconds(5);
const CONTACT_STALLS: TimeDelta = TimeDelta::seconds(5);
/// For this long an answer, or a write, proves that the next one would succeed.
pub(crate) const PROVES: TimeDelta = TimeDelta::minutes(3);
/// Clocks that differ by more than this disagree on deadlines and on the end of a token.
const SKEW_SECONDS: i64 = 60;
/// Beyond this, signatures, tokens and windows are wrong.
const BAD_SKEW_SECONDS: i64 = 300;
/// This many unverified deliveries in a row are no longer stray ones.
const MANY_UNVERIFIED: u64 = 3;
/// A token is renewed long before this little time is left.
const TOKEN: TimeDelta = TimeDelta::hours(24);
/// A delivery is handled within this time.
const INBOX: TimeDelta = TimeDelta::minutes(2);
/// A delivery that waits in the inbox for longer may report an order that counts as unreported.
const SORTED: TimeDelta = TimeDelta::seconds(30);
/// The first check of an ERP row comes within this time.
const UNSEEN: TimeDelta = TimeDelta::minutes(5);
/// A sweep that misses this many turns is late.
const TURNS: i32 = 3;
/// The time that one turn may take in addition.
const TURN: TimeDelta = TimeDelta::minutes(2);
/// The sweep for new orders.
const NEW_ORDERS: &str = "new_orders";
/// A store makes up within this time for what it could not do.
const CATCHES_UP: TimeDelta = TimeDelta::seconds(90);
/// A complete reconciliation is due every day.
const COMPLETE: TimeDelta = TimeDelta::hours(25);

/// A channel of messages that fails for less time is tried again.
const CHANNEL_LASTS: TimeDelta = TimeDelta::minutes(2);

/// An alarm about the schema names this many objects.
const NAMED: usize = 5;
/// So few orders at the fiscal gate never alarm: a small shop invoices once a day.
const FEW_AT_GATE: u64 = 10;

/// Decides the alarms and the overall state.
pub fn decide(seen: &Observations) -> Verdict {
    let mut alarms: Vec<Alarm> = machine(seen).chain(marketplaces(seen)).collect();
    let runs = seen.service == ServiceObservation::Running;
    for store in &seen.stores {
        alarms.extend(rows::of_store(store, seen.at));
        alarms.extend(deadlines(store));
        alarms.extend(fiscal_gate(store));
        alarms.extend(differences::of_store(store));
        if runs {
            alarms.extend(access(store, seen.at));
            alarms.extend(webhook(store, seen.at));
            alarms.extend(unreadable(store));
            // A cause that is down explains why its stores are late: one cause, one alarm. A failure that is no alarm
            // yet explains nothing, or the state would be `ok` for its moments.
            if seen.database.is_none() && !is_held_up(seen, store) {
                alarms.extend(late(store, seen.at));
            }
        }
    }
    alarms.extend(paused::alarms(seen));
    alarms.extend(channels(seen));
    alarms.extend(backups::alarms(seen));
    alarms.extend(seen.strangers.as_ref().filter(|rows| rows.count > 0).map(rows::of_strangers));
    // Notices carry alarms out of the machine: the marketplace's own words stay with the row.
    alarms.iter_mut().for_each(|alarm| alarm.text = alarm.text.without_quotes());
    // The worst first; equal ones in the order of the stores.
    alarms.sort_by_key(|alarm| (std::cmp::Reverse(alarm.severity), alarm.code));
    let unproved = if runs { unproved(seen) } else { Vec::new() };
    let state = match alarms.first().map(|worst| worst.severity) {
        Some(Severity::Failing) => State::Failing,
        Some(Severity::Warning) => State::Warning,
        None if unproved.is_empty() && runs => State::Ok,
        None => State::Unknown,
    };
    Verdict { state, alarms, unproved }
}

/// Tells whether a cause that has an alarm of its own explains why a store is late.
pub fn is_held_up(seen: &Observations, store: &StoreObservation) -> bool {
    database(seen).is_some() || is_alarming(&store.contact, seen.at) || !has_access(store)
}

/// Returns the alarms of the service, its configuration, the database, its disk and the clock.
fn machine(seen: &Observations) -> impl Iterator<Item = Alarm> {
    let stopped = match seen.service {
        ServiceObservation::Running => None,
        ServiceObservation::Silent(since) => Some((
            since,
            match since {
                Some(since) => text!("alarm-service-stopped", seconds = age(seen.at, since)),
                None => text!("alarm-service-never-started"),
            },
        )),
    };
    let stopped =
        stopped.map(|(since, text)| alarm(Code::ServiceStopped, Severity::Failing, None, since, text));
    [stopped, database(seen), schema(seen), clock(seen), configuration(seen)].into_iter().flatten()
}

/// Returns the alarm of a schema that is not as the migrations made it: the ERP's writes may go unseen.
fn schema(seen: &Observations) -> Option<Alarm> {
    let defects = &seen.schema_defects;
    let first = defects.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    let text = text!("alarm-schema-changed", count = defects.len(), objects = first);
    let alarm = alarm(Code::SchemaChanged, Severity::Failing, None, None, text);
    (!defects.is_empty()).then_some(Alarm { count: defects.len() as u64, ..alarm })
}

fn clock(seen: &Observations) -> Option<Alarm> {
    let ahead = seen.stores.iter().filter_map(|store| store.ahead_seconds).max_by_key(|ahead| ahead.abs())?;
    if ahead.abs() <= SKEW_SECONDS {
        return None;
    }
    let severity = if ahead.abs() > BAD_SKEW_SECONDS { Severity::Failing } else { Severity::Warning };
    let span = Arg::Seconds(ahead.abs());
    let text = match ahead > 0 {
        true => text!("alarm-clock-behind", span = span),
        false => text!("alarm-clock-ahead", span = span),
    };
    Some(alarm(Code::ClockWrong, severity, None, None, text))
}

/// Returns the alarm of a configuration that the last reload refused, or that the next start would refuse. It names the
/// first mistake: `espelho check` names all, but for what only the database tells.
fn configuration(seen: &Observations) -> Option<Alarm> {
    let refused = seen.refused_configuration.as_ref()?;
    let more = refused.mistakes.saturating_sub(1);
    let of_reload = |found_in: &'static str| {
        text!(
            "alarm-configuration-refused",
            mistake = refused.first.clone(),
            more = more,
            found_in = found_in,
            step = Arg::Next(Box::new(refused.first.clone()))
        )
    };
    let text = match refused.found_in {
        FoundIn::Files => of_reload("files"),
        FoundIn::Database => of_reload("database"),
        FoundIn::UnreadFiles => {
            text!("alarm-configuration-unusable", mistake = refused.first.clone(), more = more)
        }
    };
    Some(alarm(Code::ConfigurationRefused, Severity::Warning, None, Some(refused.since), text))
}

/// Returns one alarm for each marketplace and kind of trouble, however many stores it hits.
fn marketplaces(seen: &Observations) -> impl Iterator<Item = Alarm> {
    let mut hit = BTreeMap::<(&str, Code), Vec<(&StoreObservation, &ContactTrouble)>>::new();
    if seen.service == ServiceObservation::Running {
        for store in &seen.stores {
            let all = [&store.contact, &store.failing_routes].into_iter().flatten();
            let mut lasting = all.filter(|trouble| lasts(seen.at, trouble.since, LASTS));
            // An outage of everything explains each route.
            if let Some(trouble) = lasting.next() {
                let hit = hit.entry((&store.base_url, contact_code(trouble.kind))).or_default();
                hit.push((store, trouble));
            }
        }
    }
    let at = seen.at;
    hit.into_iter().filter_map(move |((address, code), stores)| {
        let first = stores.iter().map(|(_, trouble)| *trouble).min_by_key(|trouble| trouble.since)?;
        let (span, symptom) = (age(at, first.since), first.symptom.text());
        let text = match code {
            Code::MarketplaceUnreachable => text!(
                "alarm-marketplace-unreachable",
                address = address,
                span = span,
                detail = symptom,
                fault = first.symptom.fault(address),
                listen = host_of(address)
            ),
            Code::Throttled => text!("alarm-throttled", span = span),
            _ if first.routes.is_empty() => text!("alarm-marketplace-errors", span = span, detail = symptom),
            _ => text!(
                "alarm-marketplace-routes-fail",
                span = span,
                routes = first.routes.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", "),
                detail = symptom
            ),
        };
        let only = match &stores[..] {
            [(store, _)] => Some(store.key.clone()),
            _ => None,
        };
        let (cause, count) = (address.to_owned(), stores.len() as u64);
        Some(Alarm {
            code,
            severity: MARKETPLACE_SEVERITY,
            store: only,
            cause,
            count,
            since: Some(first.since),
            detail: first.detail.clone(),
            row: None,
            text,
        })
    })
}

fn contact_code(kind: ContactKind) -> Code {
    match kind {
        ContactKind::Unreachable => Code::MarketplaceUnreachable,
        ContactKind::Errors => Code::MarketplaceErrors,
        ContactKind::Throttled => Code::Throttled,
    }
}

/// Returns the alarm of values that cannot be read: the mirror has NULL for them.
fn unreadable(store: &StoreObservation) -> Option<Alarm> {
    let since = store.unreadable.iter().map(|field| field.since).min()?;
    let values = store.unreadable.iter().map(|field| field.values).sum::<u64>();
    let name = |of: &UnreadableValues| format!("{} ({}: {})", of.field, of.route, of.values);
    let named = store.unreadable.iter().take(NAMED).map(name).collect::<Vec<_>>().join(", ");
    let text = text!("alarm-unreadable-values", store = store.key.as_str(), count = values, fields = named);
    let alarm = alarm(Code::UnreadableValues, Severity::Warning, Some(&store.key), Some(since), text);
    Some(Alarm { count: values, ..alarm })
}

/// Tells whether no trouble with the credential keeps us out.
fn has_access(store: &StoreObservation) -> bool {
    store.credential.as_ref().is_none_or(|trouble| trouble.severity() != Severity::Failing)
}

/// Returns the alarms of the credential, its abilities, its token, and the store's owner.
fn access(store: &StoreObservation, at: DateTime<Utc>) -> Vec<Alarm> {
    let (key, name) = (Some(&store.key), store.key.to_string());
    let failing = |code, since, text| alarm(code, Severity::Failing, key, since, text);
    let mut alarms = Vec::new();
    if let Some(trouble) = &store.credential {
        let place = trouble.place.as_str();
        let (code, text) = match trouble.kind {
            CredentialKind::Refused => {
                let token = if trouble.has_token { "works" } else { "gone" };
                let text = match &trouble.refused_fields {
                    Some(fields) => text!("alarm-login-refused", fields = fields, token = token),
                    None => text!("alarm-credential-refused", place = place, token = token),
                };
                let text = text.with("store", name.as_str());
                (Code::CredentialRefused, text)
            }
            CredentialKind::Foreign => {
                (Code::ForeignLogin, text!("alarm-foreign-login", store = name.as_str()))
            }
        };
        alarms.push(alarm(code, trouble.severity(), key, Some(trouble.since), text));
    }
    if let Some(UnreadablePassword { since, why, place }) = &store.unreadable_password {
        let text = text!(
            "alarm-password-unreadable",
            store = name.as_str(),
            why = why.clone(),
            file = place.as_str()
        );
        alarms.push(alarm(Code::PasswordUnreadable, Severity::Warning, key, Some(*since), text));
    }
    let lacking = abilities::lacking(store, at);
    if !lacking.is_empty() {
        let (scopes, retry) = (lacking.join(", "), abilities::retry(store));
        let text = text!(
            "alarm-scope-missing",
            store = name.as_str(),
            scopes = scopes,
            rows = if retry.is_some() { "yes" } else { "no" },
            retry = retry.unwrap_or_default()
        );
        alarms.push(failing(Code::ScopeMissing, None, text));
    }
    if let Owner::Nobody(Some(why)) = &store.owner
        && has_access(store)
        && store.contact.is_none()
    {
        let text = text!("alarm-not-held", store = name.as_str(), why = why.clone());
        alarms.push(failing(Code::NotHeld, None, text));
    }
    let is_explained = alarms.iter().any(|alarm| alarm.severity == Severity::Failing);
    let ends = store.token_expires_at.filter(|end| *end - at < TOKEN && !is_explained);
    if let Some(end) = ends.filter(|_| store.contact.is_none()) {
        let text = text!("alarm-token-expires", store = name.as_str(), end = end);
        alarms.push(failing(Code::TokenExpires, None, text));
    }
    alarms
}

/// Returns the alarm of the webhook: deliveries do not come, go to another address, or cannot be verified.
fn webhook(store: &StoreObservation, at: DateTime<Utc>) -> Option<Alarm> {
    let webhook = store.webhook.as_ref()?;
    let (key, name) = (Some(&store.key), store.key.to_string());
    let failing = |code, since, text| Some(alarm(code, Severity::Failing, key, since, text));
    if let Some(OtherAddress { registered, configured }) = &webhook.elsewhere {
        let text = text!(
            "alarm-webhook-elsewhere",
            store = name.as_str(),
            registered = registered,
            configured = configured
        );
        return failing(Code::WebhookElsewhere, None, text);
    }
    if webhook.unverified >= MANY_UNVERIFIED {
        let text = text!("alarm-webhooks-unverified", store = name.as_str(), count = webhook.unverified);
        return failing(Code::WebhooksUnverified, None, text);
    }
    // A marketplace that is down delivers nothing.
    if is_alarming(&store.contact, at) || paused::keeps_deliveries(store, at) {
        return None;
    }
    let Some(silence) = &webhook.silence else { return lost_deliveries(store, webhook, at) };
    let (missed, address) = (silence.missed, silence.address.as_str());
    let text = text!("alarm-webhooks-missing", store = name.as_str(), missed = missed, address = address);
    let alarm = failing(Code::WebhooksMissing, Some(silence.since), text)?;
    Some(Alarm { count: missed.max(1), ..alarm })
}

/// Returns the alarm of deliveries of which some are lost. While the inbox is behind, what waits in it may tell of the
/// changes.
fn lost_deliveries(
    store: &StoreObservation,
    webhook: &WebhookObservation,
    at: DateTime<Utc>,
) -> Option<Alarm> {
    let is_behind = store.inbox.is_some_and(|(_, oldest)| lasts(at, oldest, SORTED));
    let lost = webhook.lost.filter(|_| !is_behind)?;
    let name = store.key.as_str();
    let text =
        text!("alarm-webhooks-some-missing", store = name, unreported = lost.unreported, all = lost.all);
    let alarm = alarm(Code::WebhooksMissing, Severity::Warning, Some(&store.key), Some(lost.since), text);
    Some(Alarm { count: lost.unreported, ..alarm })
}

/// Returns the alarm of late work: one for each store, for the worst of it.
fn late(store: &StoreObservation, at: DateTime<Utc>) -> Option<Alarm> {
    let name = store.key.to_string();
    let Owner::Here(held_since) = store.owner else { return None };
    // Work that a pause kept waiting is late only from its end on.
    let resumed = |activities: &[Activity]| paused::resumed_at(store, activities, at);
    let waits = |oldest: DateTime<Utc>, activities: &[Activity]| {
        at - resumed(activities).map_or(oldest, |resumed| oldest.max(resumed))
    };
    let reading_resumed = resumed(&[Activity::Pull]);
    let held_since = past(Some(held_since), at).max(reading_resumed);
    let inbox = store.inbox.filter(|(_, oldest)| waits(*oldest, &[Activity::Webhooks]) > INBOX);
    let inbox = inbox.filter(|_| !paused::holds(store, Activity::Webhooks, at)).map(|(count, oldest)| {
        (
            oldest,
            count,
            text!("alarm-late-inbox", store = name.as_str(), count = count, span = age(at, oldest)),
        )
    });
    let unseen = store.unseen.filter(|(_, oldest)| waits(*oldest, &paused::INTENTS) > UNSEEN);
    let unseen = unseen.filter(|_| !paused::holds_intents(store, at)).map(|(count, oldest)| {
        (
            oldest,
            count,
            text!("alarm-late-rows", store = name.as_str(), count = count, span = age(at, oldest)),
        )
    });
    // Sweeps that a failing route holds up have that cause.
    let is_reading = !paused::holds(store, Activity::Pull, at) && !is_alarming(&store.failing_routes, at);
    let is_complete = store.complete_at.is_some() && is_reading;
    let sweeps = store.sweeps.iter().filter(|_| is_complete).filter_map(|sweep| {
        let since = past(sweep.succeeded_at, at).max(held_since)?;
        let promised = promised(sweep);
        (at - since > promised).then(|| {
            let sweep_name = Text::new(format!("words-sweep-{}", sweep.kind.replace('_', "-")));
            let text =
                text!("alarm-late-sweep", store = name.as_str(), sweep = sweep_name, span = age(at, since));
            (since, 1, text)
        })
    });
    // A reconciliation of the future ended at some time before this process took the store.
    let complete_at = past(store.complete_at, at).or(store.complete_at.and(held_since));
    let complete = complete_at
        .filter(|then| at - *then > COMPLETE && is_reading && reading_resumed.is_none())
        .map(|then| (then, 1, text!("alarm-late-complete", store = name.as_str(), span = age(at, then))));
    let worst =
        inbox.into_iter().chain(unseen).chain(complete).chain(sweeps).min_by_key(|(since, ..)| *since);
    let problem = store.run_problem.as_ref().map(|problem| {
        let text = text!(
            "alarm-run-failed",
            store = name.as_str(),
            why = problem.clone(),
            step = Arg::Next(Box::new(problem.clone()))
        );
        alarm(Code::RunFailed, Severity::Failing, Some(&store.key), None, text)
    });
    // A store makes up for a cause that is over within moments: told before that, the delay would look as if the cause had not
    // ended.
    let catches_up = past(store.held_up_at, at).is_some_and(|held_up| at - held_up < CATCHES_UP);
    let late = worst.filter(|_| !catches_up).map(|(since, count, text)| Alarm {
        count,
        ..alarm(Code::Late, Severity::Warning, Some(&store.key), Some(since), text)
    });
    problem.or(late)
}

/// Returns the alarms of dispatch and fiscal deadlines: one for each kind.
fn deadlines(store: &StoreObservation) -> impl Iterator<Item = Alarm> {
    let name = store.key.to_string();
    store.deadlines.iter().filter(|of| of.past + of.near > 0).map(move |of| {
        let (key, first) = &of.first;
        let kind = Text::new(format!("word-deadline-{}", of.kind.replace('_', "-")));
        let (severity, text) = match of.past {
            0 => (
                Severity::Warning,
                text!("alarm-deadline-near", count = of.near, kind = kind, key = key, at = *first),
            ),
            past => (
                Severity::Failing,
                text!(
                    "alarm-deadline-past",
                    count = past,
                    near = of.near,
                    kind = kind,
                    key = key,
                    at = *first
                ),
            ),
        };
        let text = text.with("store", name.as_str());
        let (cause, count) = (of.kind.clone(), of.past + of.near);
        Alarm { cause, count, ..alarm(Code::Deadline, severity, Some(&store.key), Some(*first), text) }
    })
}

/// Returns the alarm of orders that pile up at the fiscal gate: more than a usual day brings, so that invoicing has
/// stopped, or nearly.
fn fiscal_gate(store: &StoreObservation) -> Option<Alarm> {
    let (waiting, usual) = store.fiscal.filter(|(waiting, usual)| waiting > usual.max(&FEW_AT_GATE))?;
    let text = text!("alarm-fiscal-gate", store = store.key.as_str(), count = waiting, usual = usual);
    Some(Alarm { count: waiting, ..alarm(Code::FiscalGate, Severity::Warning, Some(&store.key), None, text) })
}

/// Returns the alarms of channels by which people hear of alarms: one for each.
fn channels(seen: &Observations) -> impl Iterator<Item = Alarm> {
    let lasting = seen.channels.iter().filter(|trouble| lasts(seen.at, trouble.since, CHANNEL_LASTS));
    lasting.map(|trouble| {
        let (channel, detail) = (trouble.channel.as_str(), trouble.detail.clone());
        let text = text!("alarm-notice-failed", channel = channel, detail = trouble.symptom.text());
        let alarm = alarm(Code::NoticeFailed, Severity::Warning, None, Some(trouble.since), text);
        Alarm { cause: channel.to_owned(), detail, ..alarm }
    })
}

/// Returns what has no fresh proof, though nothing is known to be wrong with it.
fn unproved(seen: &Observations) -> Vec<Text> {
    // A proof dated in the future comes from a clock that was set back since: it says nothing about now.
    let age = |then: DateTime<Utc>| seen.at - then;
    let is_fresh = |then: Option<DateTime<Utc>>| then.is_some_and(|then| age(then).abs() <= PROVES);
    let mut unproved = Vec::new();
    if !is_fresh(seen.written_at) {
        unproved.push(text!("unproved-database"));
    } else if let Some(trouble) = &seen.database
        && lasts(seen.at, trouble.since, DATABASE_STALLS)
        && database(seen).is_none()
    {
        unproved.push(text!("unproved-database-stalls", detail = trouble.symptom.text()));
    }
    for store in &seen.stores {
        let name = store.key.to_string();
        if let (Owner::Here(_), Some(trouble)) = (&store.owner, fresh_failures(store, seen.at)) {
            let (name, detail) = (name.as_str(), trouble.symptom.text());
            unproved.push(text!("unproved-marketplace-fails", store = name, detail = detail));
        }
        match &store.owner {
            Owner::Here(_) if store.complete_at.is_none() => {
                unproved.push(text!("unproved-mirror", store = name));
            }
            // An answer to an earlier process is not known here.
            Owner::Here(_) if store.answered_at.is_none() => {
                unproved.push(text!("unproved-marketplace-yet", store = name));
            }
            Owner::Here(_) if !is_fresh(store.answered_at) => {
                unproved.push(text!("unproved-marketplace", store = name));
            }
            Owner::Here(_)
                if store.webhook.as_ref().is_some_and(|webhook| webhook.is_open)
                    && !paused::keeps_deliveries(store, seen.at) =>
            {
                unproved.push(text!("unproved-webhooks", store = name));
            }
            Owner::Nobody(_) => unproved.push(text!("unproved-owner", store = name)),
            Owner::Here(_) | Owner::Elsewhere => {}
        }
        // A refused one is an alarm.
        let is_unproved = store.is_password_unproved && store.credential.is_none();
        if matches!(store.owner, Owner::Here(_)) && is_unproved {
            unproved.push(text!("unproved-password", store = store.key.as_str()));
        }
        if let (Owner::Here(_), Some(_)) = (&store.owner, store.complete_at) {
            unproved.extend(store.behind.iter().map(|behind| {
                text!(
                    "unproved-count",
                    store = store.key.as_str(),
                    resource = words::resource(&behind.kind),
                    remote = behind.remote,
                    local = behind.local,
                    since = behind.since
                )
            }));
        }
    }
    unproved
}

/// Returns a store's failed calls since the last useful answer, if they are no alarm yet. A 429 is the rhythm of a limit, not
/// a sign of trouble.
fn fresh_failures(store: &StoreObservation, at: DateTime<Utc>) -> Option<&ContactTrouble> {
    let trouble = store.contact.as_ref().filter(|trouble| trouble.kind != ContactKind::Throttled)?;
    (lasts(at, trouble.since, CONTACT_STALLS) && !lasts(at, trouble.since, LASTS)).then_some(trouble)
}

/// Returns the time within which a sweep succeeds. One for new orders whose last attempt failed is told as soon as the
/// other failures of a marketplace: the shop sells, and the ERP hears of nothing.
fn promised(sweep: &SweepObservation) -> TimeDelta {
    let every = TimeDelta::seconds(sweep.every_seconds);
    match sweep.has_failed && sweep.kind == NEW_ORDERS {
        true => TURN.max(every * 2),
        false => every * TURNS + TURN,
    }
}

/// Tells whether trouble with a marketplace is an alarm.
fn is_alarming(trouble: &Option<ContactTrouble>, at: DateTime<Utc>) -> bool {
    trouble.as_ref().is_some_and(|trouble| lasts(at, trouble.since, LASTS))
}

fn age(at: DateTime<Utc>, then: DateTime<Utc>) -> Arg {
    Arg::Seconds((at - then).num_seconds().max(0))
}
