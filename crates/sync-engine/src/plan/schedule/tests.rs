use super::*;

const SECONDS: [u64; Sweep::COUNT] = [60, 120, 30, 60, 30, 60, 300, 900, 3_600, 3_600, 86_400, 86_400];

fn intervals() -> Intervals {
    let [
        new_orders,
        open_orders,
        sold_products,
        products,
        subresources,
        aged_orders,
        counts,
        campaigns,
        media,
        profile,
        enums,
        webhook_test,
    ] = SECONDS.map(|seconds| Cadence::Every(Duration::from_secs(seconds)));
    Intervals {
        new_orders,
        open_orders,
        sold_products,
        products,
        subresources,
        aged_orders,
        counts,
        campaigns,
        media,
        profile,
        enums,
        webhook_test,
    }
}

fn at(seconds: u64) -> Moment {
    moment(seconds, seconds as i64)
}

fn moment(monotonic: u64, wall: i64) -> Moment {
    let wall = DateTime::from_timestamp(1_795_000_000 + wall, 0).unwrap();
    Moment { monotonic: Duration::from_secs(monotonic), wall }
}

fn after(succeeded: &[(Sweep, i64)], now: Moment) -> Schedule {
    let succeeded = succeeded.iter().map(|(sweep, wall)| (*sweep, moment(0, *wall).wall)).collect();
    Schedule::new(&intervals(), &StoreKey::new("loja-1").unwrap(), now, &succeeded)
}

fn due(schedule: &Schedule, sweep: Sweep) -> f64 {
    schedule.due[sweep as usize].as_secs_f64()
}

#[test]
fn everything_runs_at_once_and_then_as_often_as_it_was_told() {
    let mut schedule = after(&[], at(0));
    let mut runs: HashMap<Sweep, u64> = HashMap::new();
    loop {
        let (sweep, due) = schedule.next();
        if due > Duration::from_secs(172_800) {
            break;
        }
        *runs.entry(sweep).or_default() += 1;
        schedule.ran(sweep, moment(due.as_secs(), due.as_secs() as i64), Duration::ZERO);
    }
    assert_eq!(runs.remove(&Sweep::WebhookTest), Some(1), "the start's test is none of the sweep's");
    let paced = Sweep::ALL.into_iter().zip(SECONDS).filter(|(sweep, _)| *sweep != Sweep::WebhookTest);
    for (sweep, seconds) in paced {
        let most = 172_800 / seconds + 1;
        assert!((most * 8 / 10..=most).contains(&runs[&sweep]), "{sweep:?}: {} of {most}", runs[&sweep]);
    }
}

// withstands: F094
#[test]
fn stores_do_not_ask_in_step() {
    let next = |store: &str| {
        let mut schedule =
            Schedule::new(&intervals(), &StoreKey::new(store).unwrap(), at(0), &HashMap::new());
        Sweep::ALL.into_iter().for_each(|sweep| schedule.ran(sweep, at(0), Duration::ZERO));
        schedule.next().1
    };
    let due: std::collections::HashSet<_> = (0..50).map(|n| next(&format!("loja-{n}"))).collect();
    assert!(due.len() > 40, "{due:?}");
    assert!(due.iter().all(|due| (30.0..33.0).contains(&due.as_secs_f64())), "{due:?}");
}

#[test]
fn stores_that_start_together_do_not_test_their_webhooks_together() {
    let mut thirds = [0; 3];
    for n in 0..300 {
        let store = StoreKey::new(&format!("loja-{n}")).unwrap();
        thirds[((first_test(&store).as_secs_f64() - 5.0) / 10.0) as usize] += 1;
    }
    assert!(thirds.iter().all(|count| (60..140).contains(count)), "{thirds:?}");
}

#[test]
fn a_sweep_that_is_wanted_is_due_and_nothing_is_put_off_by_it() {
    let mut schedule = after(&[], at(0));
    Sweep::ALL.into_iter().for_each(|sweep| schedule.ran(sweep, at(0), Duration::ZERO));
    let now = Duration::from_secs(5);
    schedule.wake(Sweep::Media, now);
    assert_eq!(schedule.next(), (Sweep::Media, now));
    schedule.wake(Sweep::Media, Duration::from_secs(9));
    assert_eq!(schedule.next(), (Sweep::Media, now));
}

#[test]
fn after_a_restart_a_sweep_is_due_when_it_would_have_been_and_what_was_missed_at_once() {
    let schedule = after(&[(Sweep::Media, -600), (Sweep::Profile, -9_000), (Sweep::NewOrders, -30)], at(7));
    assert!((7.0 + 2_990.0..7.0 + 3_360.0).contains(&due(&schedule, Sweep::Media)), "{schedule:?}");
    assert_eq!(due(&schedule, Sweep::Profile), 7.0, "its time has come while nobody was here");
    assert!((30.0..43.0).contains(&due(&schedule, Sweep::NewOrders)));
    assert_eq!(due(&schedule, Sweep::Campaigns), 7.0, "it never ran well");
    for tested in [&[][..], &[(Sweep::WebhookTest, -30)]] {
        let test = due(&after(tested, at(7)), Sweep::WebhookTest);
        assert!((86_407.0..95_047.0).contains(&test), "each start is proved anew, without a sweep: {test}");
    }
}

// withstands: F087
#[test]
fn a_clock_that_was_put_back_does_not_put_a_sweep_off() {
    let schedule = after(&[(Sweep::Media, 86_400 * 365)], at(0));
    assert!(due(&schedule, Sweep::Media) <= 3_960.0, "{schedule:?}");
}

#[test]
fn a_sweep_that_failed_is_tried_again_soon() {
    let mut schedule = after(&[], at(0));
    for sweep in Sweep::ALL {
        schedule.failed(sweep, at(100));
    }
    assert_eq!(due(&schedule, Sweep::Enums), 400.0);
    assert!(due(&schedule, Sweep::Subresources) < 134.0, "what is frequent keeps its own pace");
}

#[test]
fn a_sweep_that_takes_many_requests_is_stretched_to_its_share_of_the_budget() {
    assert_eq!(stretched(50, 300), Duration::from_secs(30));
    assert_eq!(stretched(1_000, 300), Duration::from_secs(600));
    let mut schedule = after(&[], at(0));
    // 100,000 open orders are 1,000 pages.
    schedule.ran(Sweep::OpenOrders, at(200), stretched(1_000, 300));
    assert_eq!(due(&schedule, Sweep::OpenOrders), 600.0);
    schedule.ran(Sweep::OpenOrders, at(200), stretched(50, 300));
    assert!((320.0..333.0).contains(&due(&schedule, Sweep::OpenOrders)), "it fits");
}

/// Every full hour, as a cron expression would say.
#[derive(Debug)]
struct Hourly;

impl Timetable for Hourly {
    fn next_after(&self, time: DateTime<Utc>) -> Option<DateTime<Utc>> {
        DateTime::from_timestamp((time.timestamp() / 3_600 + 1) * 3_600, 0)
    }
}

// withstands: F119
#[test]
fn a_timetable_is_kept_over_a_restart_and_what_it_missed_is_done_once_and_at_once() {
    let cadence = Cadence::At(Arc::new(Hourly));
    let time = |text: &str| format!("2026-11-20T{text}Z").parse::<DateTime<Utc>>().unwrap();
    let due_in = |last: &str, now: &str| cadence.due_in(time(last), time(now)).as_secs();
    assert_eq!(due_in("12:00:01", "12:20:00"), 2_400);
    assert_eq!(due_in("09:00:01", "12:20:00"), 0);
    assert_eq!(due_in("12:20:00", "12:20:00"), 2_400, "three hours are caught up with by one run");
    assert_eq!(cadence.period(time("12:20:00")), Duration::from_secs(3_600));
    assert_eq!(Cadence::Every(Duration::from_secs(90)).period(time("12:20:00")).as_secs(), 90);
}
