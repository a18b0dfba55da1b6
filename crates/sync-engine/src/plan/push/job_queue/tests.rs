use proptest::prelude::*;

use super::*;

fn job(rank: Rank, keys: &[&str]) -> Job<u32> {
    Job { keys: keys.iter().map(|key| (*key).to_owned()).collect(), asked: "1".into(), rank, work: 0 }
}

fn filled(jobs: Vec<Job<u32>>) -> JobQueue<u32> {
    let mut queue = JobQueue::default();
    fill(&mut queue, jobs, SECOND, SECOND);
    queue
}

const SOURCE: Source = Source::Commands;

/// Walks once, and takes over what was found.
fn fill(queue: &mut JobQueue<u32>, jobs: Vec<Job<u32>>, now: Duration, took: Duration) -> Found {
    queue.begin_turn(now);
    queue.begin_walk(SOURCE);
    jobs.into_iter().for_each(|job| queue.offer(SOURCE, job));
    queue.end_walk(SOURCE);
    queue.end_turn(now, took, false)
}

/// A turn of a walk that goes on.
fn turn(queue: &mut JobQueue<u32>, source: Source, jobs: Vec<Job<u32>>) -> Found {
    queue.begin_turn(SECOND);
    jobs.into_iter().for_each(|job| queue.offer(source, job));
    queue.end_turn(SECOND, SECOND, true)
}

const SECOND: Duration = Duration::from_secs(1);

fn taken(queue: &mut JobQueue<u32>) -> Vec<String> {
    std::iter::from_fn(|| queue.take(SECOND)).map(|job| job.key().to_owned()).collect()
}

#[test]
fn the_most_urgent_goes_first_and_equals_keep_their_order() {
    let jobs = vec![
        job(Rank::Raises, &["a"]),
        job(Rank::Command, &["b"]),
        job(Rank::Empties, &["c"]),
        job(Rank::Command, &["d"]),
        job(Rank::Verify, &["e"]),
    ];
    assert_eq!(taken(&mut filled(jobs)), ["c", "b", "d", "a", "e"]);
}

#[test]
fn no_two_jobs_with_a_key_in_common_are_under_way_at_once() {
    let mut queue = filled(vec![
        job(Rank::Command, &["a", "x"]),
        job(Rank::Command, &["b", "x"]),
        job(Rank::Command, &["c"]),
    ]);
    assert_eq!(taken(&mut queue), ["a", "c"]);
    assert_eq!(queue.busy_keys(), ["a", "x", "c"].map(str::to_owned).into());
    queue.release(&["a".to_owned(), "x".to_owned()]);
    assert_eq!(taken(&mut queue), ["b"]);
}

#[test]
fn a_pause_is_for_what_was_asked_for_and_not_for_what_is_asked_for_next() {
    let mut queue = filled(vec![]);
    queue.done("a", "1", SECOND, SECOND * 10);
    let wait = SECOND * 11;
    assert_eq!(
        fill(&mut queue, vec![job(Rank::Command, &["a"])], SECOND, SECOND),
        Found::NothingBefore(Some(wait))
    );
    let next = Job { asked: "2".into(), ..job(Rank::Command, &["a"]) };
    assert_eq!(fill(&mut queue, vec![next], SECOND, SECOND), Found::Due);
    assert_eq!(
        fill(&mut queue, vec![job(Rank::Command, &["a"])], wait, SECOND),
        Found::Due,
        "the pause is over"
    );
    assert_eq!(fill(&mut queue, vec![], SECOND, SECOND), Found::NothingBefore(None));
}

#[test]
fn a_turn_is_valid_for_eight_times_as_long_as_it_took_and_two_seconds_at_most() {
    let valid = |took: u64, jobs: Vec<Job<u32>>| {
        let mut queue = JobQueue::default();
        fill(&mut queue, jobs, SECOND, Duration::from_millis(took));
        (queue.valid_until() - SECOND).as_millis()
    };
    assert_eq!(valid(100, vec![]), 800);
    assert_eq!(valid(1_000, vec![]), 2_000);
    assert_eq!(valid(0, vec![]), 0);
    assert_eq!(valid(0, vec![job(Rank::Command, &["a"])]), 1, "until a worker has taken something");
    let mut queue = filled(vec![job(Rank::Command, &["a"])]);
    assert_eq!(queue.take(SECOND * 3), None, "what is urgent and new is not known");
}

#[test]
fn pauses_double_up_to_five_minutes_and_in_an_outage_stay_short_and_are_not_held_against_the_row() {
    let pauses = |is_outage: bool, times: u32| {
        let mut queue = filled(vec![]);
        let pause = |_| queue.failed("a", "1", SECOND, is_outage).as_secs();
        let pauses: Vec<u64> = (0..times).map(pause).collect();
        (pauses, queue.failures("a", "1"))
    };
    assert_eq!(pauses(false, 10), (vec![2, 4, 8, 16, 32, 64, 128, 256, 300, 300], 10));
    assert_eq!(pauses(true, 7), (vec![2, 4, 8, 16, 20, 20, 20], SHOWN_AFTER + 1));
    let mut failures = 100;
    assert_eq!((count_failure(&mut failures, true), failures), (OUTAGE_PAUSE, 100));
}

#[test]
fn what_is_asked_for_next_has_met_no_error_and_what_went_well_forgets_its_errors() {
    let mut queue = filled(vec![]);
    for _ in 0..3 {
        queue.failed("a", "1", SECOND, false);
    }
    assert_eq!((queue.failures("a", "1"), queue.failures("a", "2")), (3, 0));
    assert_eq!(queue.failed("a", "2", SECOND, false), FIRST_PAUSE);
    queue.done("a", "2", SECOND, Duration::ZERO);
    assert_eq!(queue.failures("a", "2"), 0);
    assert_eq!(queue.scan_failed(SECOND, false), FIRST_PAUSE);
    fill(&mut queue, vec![], SECOND, SECOND);
    assert_eq!(queue.scan_failed(SECOND, false), FIRST_PAUSE, "a scan that went well forgets its errors");
}

#[test]
fn of_much_open_work_the_most_urgent_is_kept_and_the_rest_is_found_when_that_is_used_up() {
    let many = 5 * KEPT_JOBS;
    let mut queue = JobQueue::default();
    queue.begin_turn(SECOND);
    queue.begin_walk(SOURCE);
    let key = |n: usize| format!("raises {n}");
    for n in 0..many {
        queue.offer(SOURCE, job(Rank::Raises, &[&key(n)]));
        assert!(queue.jobs_of(SOURCE).found.len() < 2 * KEPT_JOBS);
    }
    assert!(
        queue.wants(SOURCE, Rank::Command) && !queue.wants(SOURCE, Rank::Raises),
        "of equals the first are kept"
    );
    queue.offer(SOURCE, job(Rank::Empties, &["last and most urgent"]));
    queue.offer(SOURCE, job(Rank::Unknown, &["not urgent"]));
    queue.end_walk(SOURCE);
    assert_eq!(queue.end_turn(SECOND, SECOND, false), Found::Due);
    let first = queue.take(SECOND).map(|job| job.key().to_owned());
    assert_eq!(first.as_deref(), Some("last and most urgent"));
    assert!(queue.valid_until() > SECOND);
    let left: Vec<String> = taken(&mut queue);
    assert_eq!(left.len(), KEPT_JOBS - 1);
    assert_eq!(left, (0..KEPT_JOBS - 1).map(key).collect::<Vec<_>>());
    assert_eq!(queue.valid_until(), Duration::ZERO, "there is more");
}

#[test]
fn what_pauses_is_not_kept_and_costs_two_numbers() {
    let mut queue = JobQueue::default();
    let keys: Vec<String> = (0..3 * KEPT_JOBS).map(|n| n.to_string()).collect();
    keys.iter().for_each(|key| queue.done(key, "1", SECOND, SECOND * 60));
    let jobs = keys.iter().map(|key| job(Rank::Waiting, &[key])).collect();
    assert_eq!(fill(&mut queue, jobs, SECOND, SECOND), Found::NothingBefore(Some(SECOND * 61)));
    assert!(queue.wants(SOURCE, Rank::Unknown) && !queue.has_left_out(SOURCE));
    assert!(size_of::<(Number, (Number, Duration))>() <= 32);
}

#[test]
fn in_a_crowd_a_turn_is_valid_for_half_a_second_unless_its_jobs_are_used_up() {
    let mut queue = JobQueue::default();
    queue.begin_walk(SOURCE);
    queue.begin_turn(SECOND);
    queue.offer(SOURCE, job(Rank::Command, &["a"]));
    assert_eq!(queue.end_turn(SECOND, Duration::ZERO, true), Found::Due);
    assert_eq!(queue.valid_until(), SECOND + CROWDED_TURN_VALIDITY);
    assert_eq!(taken(&mut queue), ["a"]);
    assert_eq!(queue.valid_until(), Duration::ZERO, "the walk goes on");
    queue.begin_turn(SECOND);
    assert_eq!(queue.end_turn(SECOND, SECOND, true), Found::Due);
    assert_eq!(queue.valid_until(), SECOND * 3, "a turn that finds nothing is not followed at once");
    queue.begin_turn(SECOND);
    queue.note_answered();
    assert_eq!(queue.end_turn(SECOND, SECOND, true), Found::Due);
    assert_eq!(queue.valid_until(), Duration::ZERO, "there may be more to answer");
    queue.begin_turn(SECOND);
    queue.end_walk(SOURCE);
    assert_eq!(queue.end_turn(SECOND, SECOND, true), Found::NothingBefore(None));
}

#[test]
fn jobs_stay_from_turn_to_turn_until_their_walk_is_over_and_what_is_found_anew_replaces_them() {
    let mut queue =
        filled(vec![job(Rank::Command, &["a"]), job(Rank::Command, &["b", "x"]), job(Rank::Waiting, &["c"])]);
    queue.begin_walk(SOURCE);
    assert_eq!(
        turn(&mut queue, SOURCE, vec![job(Rank::Waiting, &["a"]), job(Rank::Command, &["d"])]),
        Found::Due
    );
    assert_eq!(queue.queued(SOURCE), 4);
    turn(&mut queue, Source::Urgent, vec![job(Rank::Empties, &["x"])]);
    assert_eq!((queue.queued(SOURCE), queue.queued(Source::Urgent)), (3, 1), "urgent work takes its key");
    queue.begin_turn(SECOND);
    queue.end_walk(SOURCE);
    queue.end_turn(SECOND, SECOND, true);
    assert_eq!(queue.queued(Source::Urgent), 0, "urgent work is read in each turn");
    assert_eq!(taken(&mut queue), ["d", "a"], "the walk has not found c again");
}

#[test]
fn a_full_source_takes_nothing_from_another() {
    let mut queue = JobQueue::default();
    for source in [Source::Levels, SOURCE] {
        queue.begin_walk(source);
    }
    let many = (0..KEPT_JOBS).map(|n| job(Rank::Lowers, &[&n.to_string()])).collect();
    turn(&mut queue, Source::Levels, many);
    queue.begin_turn(SECOND);
    assert!(!queue.wants(Source::Levels, Rank::Lowers) && queue.wants(Source::Levels, Rank::Empties));
    assert!(queue.wants(SOURCE, Rank::Waiting));
    queue.forget(Source::Levels);
    assert_eq!(queue.queued(Source::Levels), 0);
}

proptest! {
    #[test]
    fn whatever_is_found_the_kept_are_the_most_urgent_in_their_order(
        ranks in proptest::collection::vec(0usize..4, 0..4 * KEPT_JOBS),
    ) {
        let all = [Rank::Empties, Rank::Command, Rank::Raises, Rank::Unknown];
        let found: Vec<_> = ranks.iter().enumerate().map(|(n, rank)| (all[*rank], n.to_string())).collect();
        let jobs = found.iter().map(|(rank, key)| job(*rank, &[key])).collect();
        let queue = filled(jobs);
        let mut expected = found;
        expected.sort_by_key(|(rank, _)| *rank);
        expected.truncate(KEPT_JOBS);
        let kept: Vec<_> = queue.sources[SOURCE as usize].due.iter().map(|job| (job.rank, job.key().to_owned())).collect();
        prop_assert_eq!(kept, expected);
    }

    #[test]
    fn whatever_is_taken_and_released_keys_are_never_shared(
        jobs in proptest::collection::vec(proptest::collection::vec(0u8..6, 1..4), 1..20), order in any::<u64>(),
    ) {
        let jobs = jobs.into_iter().map(|keys| {
            let keys: Vec<String> = keys.iter().map(u8::to_string).collect();
            Job { keys, asked: String::new(), rank: Rank::Command, work: 0u32 }
        });
        let mut queue = filled(jobs.collect());
        let (mut under_way, mut left) = (Vec::<Job<u32>>::new(), queue.queued(SOURCE));
        for step in 0..64 {
            if order >> step & 1 == 0 {
                if let Some(job) = queue.take(SECOND) {
                    for other in &under_way {
                        prop_assert!(!other.keys.iter().any(|key| job.keys.contains(key)));
                    }
                    left -= 1;
                    under_way.push(job);
                }
            } else if let Some(job) = under_way.pop() {
                queue.release(&job.keys);
            }
        }
        while let Some(job) = under_way.pop() {
            queue.release(&job.keys);
        }
        prop_assert!(queue.busy_keys().is_empty());
        prop_assert_eq!(left, queue.queued(SOURCE));
    }
}
