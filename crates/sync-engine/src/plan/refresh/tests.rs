use super::*;
use crate::plan::refresh_request::Expected;

const ORDER: Subresource = Subresource::Order;
const SHIPMENTS: Subresource = Subresource::Shipments;
const TRACKING: Subresource = Subresource::Tracking;
const INVOICES: Subresource = Subresource::Invoices;
const EVENTS: Subresource = Subresource::Events;

fn at(second: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_795_000_000 + second, 0).unwrap()
}

fn hash(number: i64) -> ContentHash {
    ContentHash::from_i64(number)
}

fn set(subresources: &[Subresource]) -> BitFlags<Subresource> {
    subresources.iter().copied().collect()
}

#[test]
fn the_order_is_written_before_its_subresources_are_read() {
    for (asked, expected) in [
        (&[ORDER][..], &[&[ORDER][..]][..]),
        (&[ORDER, SHIPMENTS, EVENTS], &[&[ORDER], &[SHIPMENTS, EVENTS]]),
        (&[SHIPMENTS, EVENTS], &[&[SHIPMENTS, EVENTS]]),
        (&[], &[&[]]),
    ] {
        let steps = steps(&RefreshRequest::swept(set(asked)));
        let read: Vec<_> = steps.into_iter().map(|step| step.subresources).collect();
        assert_eq!(read, expected.iter().map(|part| set(part)).collect::<Vec<_>>(), "{asked:?}");
    }
}

#[test]
fn only_the_order_itself_shows_what_was_expected_and_has_a_listing_row() {
    let request = RefreshRequest {
        expected: Some(Box::new(Expected { status: "paid".into(), at: None })),
        listing_hash: Some(hash(1)),
        ids: vec![7],
        ..RefreshRequest::hinted([ORDER, INVOICES])
    };
    let steps = steps(&request);
    assert_eq!(steps.len(), 2);
    assert_eq!((&steps[0].expected, steps[0].listing_hash), (&request.expected, request.listing_hash));
    assert_eq!((&steps[1].expected, steps[1].listing_hash), (&None, None));
    assert!(steps.iter().all(|step| step.ids == [7] && step.urgency == Urgency::Hinted));
}

// withstands: F032
#[test]
fn an_older_state_is_not_believed_on_a_hint_and_is_where_a_listing_shows_it() {
    let hinted = RefreshRequest::hinted([ORDER]);
    let listed = RefreshRequest { listing_hash: Some(hash(1)), ..hinted.clone() };
    let swept = RefreshRequest::swept(set(&[ORDER]));
    for (request, mirrored, read, expected) in [
        (&hinted, Some(5), Some(4), true),
        (&hinted, Some(5), Some(5), false),
        (&hinted, Some(5), Some(6), false),
        (&hinted, None, Some(4), false),
        (&hinted, Some(5), None, false),
        (&listed, Some(5), Some(4), false),
        (&swept, Some(5), Some(4), false),
    ] {
        let is_stale = goes_back(request, mirrored.map(at), read.map(at), false);
        assert_eq!(is_stale, expected, "{request:?} {mirrored:?} {read:?}");
    }
    // The listing row shows another state: the detail is from a copy that lags behind.
    for (mirrored, read, expected) in
        [(Some(5), Some(4), true), (Some(5), Some(5), false), (None, Some(4), false)]
    {
        assert_eq!(
            goes_back(&listed, mirrored.map(at), read.map(at), true),
            expected,
            "{mirrored:?} {read:?}"
        );
    }
}

#[test]
fn an_order_that_is_not_mirrored_is_read_with_its_subresources() {
    for (asked, is_mirrored, expected) in
        [(ORDER, true, true), (ORDER, false, true), (SHIPMENTS, true, false), (SHIPMENTS, false, true)]
    {
        assert_eq!(
            reads_order(&RefreshRequest::swept([asked]), is_mirrored),
            expected,
            "{asked:?} {is_mirrored}"
        );
    }
}

// withstands: F032
#[test]
fn a_detail_that_its_listing_row_contradicts_is_read_again_for_ten_minutes() {
    let (paid, preparing) = (Some("paid"), Some("preparing"));
    for (listed, listed_at, read, read_at, expected) in [
        (paid, Some(100), paid, Some(40), true),
        (paid, Some(100), paid, Some(100), false),
        (paid, Some(100), preparing, Some(130), false),
        (preparing, Some(100), paid, Some(100), true),
        // The row has no time.
        (preparing, None, paid, Some(40), true),
        (preparing, None, preparing, Some(40), false),
        (preparing, None, None, Some(40), false),
        (None, None, paid, Some(40), false),
        // No two words of the document: a label, or a new word.
        (Some("Em preparação"), None, paid, Some(40), false),
        (preparing, None, Some("teleported"), Some(40), false),
    ] {
        let listed = ListedState { status: listed.map(str::to_owned), at: listed_at.map(at) };
        let is_contradicted = listed.is_contradicted_by(read, read_at.map(at));
        assert_eq!(is_contradicted, expected, "{listed:?} {read:?} {read_at:?}");
    }
    let is_behind = |seconds| may_be_behind(Duration::from_secs(seconds));
    assert_eq!([is_behind(0), is_behind(599), is_behind(600)], [true, true, false]);
}

// withstands: F032
#[test]
fn a_pass_takes_a_detail_for_the_reading_of_its_row_unless_a_copy_may_lag_behind_the_row() {
    use PassReading::{Again, OfRow, Older};
    let (paid, preparing) = (Some("paid"), Some("preparing"));
    for (listed, listed_at, read, read_at, now, expected) in [
        (paid, Some(100), paid, Some(100), 101, OfRow),
        (preparing, Some(100), paid, Some(40), 101, Older),
        (paid, Some(100), paid, Some(40), 699, Older),
        (paid, Some(100), paid, Some(40), 700, OfRow),
        (preparing, Some(100), paid, Some(100), 101, Again),
        (preparing, Some(100), paid, Some(130), 131, OfRow),
        // The row has no time.
        (preparing, None, paid, Some(40), 9_000, Again),
        (preparing, None, preparing, Some(40), 101, OfRow),
        (None, None, paid, None, 101, OfRow),
        // Our clock is behind.
        (paid, Some(100), paid, Some(40), 50, Older),
    ] {
        let listed = ListedState { status: listed.map(str::to_owned), at: listed_at.map(at) };
        let reading = pass_reading(&listed, read, read_at.map(at), at(now));
        assert_eq!(reading, expected, "{listed:?} {read:?} {read_at:?} {now}");
    }
}

#[test]
fn an_order_is_settled_when_its_next_change_would_have_another_second() {
    for (age, expected) in [(0, false), (5, false), (6, true), (600, true), (-5, false)] {
        assert_eq!(is_settled(Some(at(-age)), at(0)), expected, "{age} s");
    }
    assert!(is_settled(None, at(0)), "an order without a time cannot show one");
}

#[test]
fn shipments_are_read_before_the_tracking_that_is_written_onto_them() {
    for (asked, expected) in [
        (&[ORDER][..], &[][..]),
        (&[TRACKING], &[SHIPMENTS, TRACKING]),
        (&[ORDER, SHIPMENTS, EVENTS], &[EVENTS, SHIPMENTS]),
    ] {
        let read: Vec<_> = subresources_to_read(&RefreshRequest::swept(set(asked))).into_iter().collect();
        assert_eq!(read, expected, "{asked:?}");
    }
}

#[test]
fn shipments_that_changed_need_tracking_unless_it_follows_in_any_case() {
    for (read, left, expected) in [
        (SHIPMENTS, &[][..], true),
        (SHIPMENTS, &[EVENTS], true),
        (SHIPMENTS, &[TRACKING], false),
        (EVENTS, &[], false),
    ] {
        assert_eq!(may_need_tracking(read, set(left)), expected, "{read:?} {left:?}");
    }
    let known = [KnownSubresource { subresource: SHIPMENTS, read_at: at(0), content_hash: hash(1) }];
    assert!(is_known(&known, SHIPMENTS, hash(1)));
    assert!(!is_known(&known, SHIPMENTS, hash(2)) && !is_known(&known, EVENTS, hash(1)));
}

#[test]
fn a_reading_changes_nothing_if_the_mirror_has_each_part_of_it_with_its_content() {
    let known =
        |subresource, content| KnownSubresource { subresource, read_at: at(0), content_hash: hash(content) };
    let mirrored = [known(SHIPMENTS, 1), known(TRACKING, 2)];
    for (read, expected, why) in [
        (&[(SHIPMENTS, hash(1)), (TRACKING, hash(2))][..], true, "both are the same"),
        (&[(TRACKING, hash(2))], true, "one was read"),
        (&[(SHIPMENTS, hash(1)), (TRACKING, hash(3))], false, "tracking changed"),
        (&[(EVENTS, hash(1))], false, "it was never read"),
        (&[], true, "nothing was read"),
    ] {
        assert_eq!(are_known(&mirrored, read), expected, "{why}");
    }
}

#[test]
fn what_a_delivery_or_a_listing_asked_for_is_not_in_rotation() {
    assert!(is_in_rotation(&RefreshRequest::default()));
    assert!(is_in_rotation(&RefreshRequest::swept([SHIPMENTS])));
    assert!(!is_in_rotation(&RefreshRequest::found([SHIPMENTS])));
    assert!(!is_in_rotation(&RefreshRequest::hinted([SHIPMENTS])));
    assert!(!is_in_rotation(&RefreshRequest { ids: vec![1], ..RefreshRequest::default() }));
}

#[test]
fn a_change_of_an_order_should_have_been_reported_by_one_event() {
    let told = || vec!["order.invoiced"];
    for (op, is_status_changed, expected) in [
        (Some(Op::Insert), false, vec!["order.created"]),
        (Some(Op::Insert), true, vec!["order.created"]),
        (Some(Op::Update), true, vec!["order.status_changed"]),
        (Some(Op::Update), false, vec![]),
        (None, false, told()),
        (None, true, told()),
    ] {
        assert_eq!(order_events(op, is_status_changed, told()), expected, "{op:?} {is_status_changed}");
    }
}

#[test]
fn only_subresources_that_a_sweep_read_where_deliveries_arrive_prove_anything() {
    for (urgency, has_read, receives, expected) in [
        (Urgency::Swept, true, true, true),
        (Urgency::Found, true, true, true),
        (Urgency::Hinted, true, true, false),
        (Urgency::Swept, false, true, false),
        (Urgency::Swept, true, false, false),
    ] {
        let request = RefreshRequest { urgency, ..RefreshRequest::default() };
        assert_eq!(
            proves_missed_events(&request, has_read, receives),
            expected,
            "{urgency:?} {has_read} {receives}"
        );
    }
}

#[test]
fn a_subresource_that_changed_long_after_it_was_read_should_have_been_reported() {
    for (subresource, content, read_at, expected, why) in [
        (SHIPMENTS, 1, -601, &[][..], "it is the same"),
        (SHIPMENTS, 2, -601, &["shipment.status_changed"], "it changed"),
        (SHIPMENTS, 2, -600, &[], "a delivery may be under way"),
        (INVOICES, 2, -601, &["order.invoiced"], "it changed"),
        (EVENTS, 2, -601, &[], "no event reports it"),
    ] {
        let known = [KnownSubresource { subresource, read_at: at(read_at), content_hash: hash(1) }];
        assert_eq!(subresource_events(&[(subresource, hash(content))], &known, at(0)), expected, "{why}");
    }
    assert!(subresource_events(&[(SHIPMENTS, hash(1))], &[], at(0)).is_empty(), "it was never read before");
}

#[test]
fn a_product_should_have_been_reported_where_its_stock_or_its_price_changed() {
    let levels = |stock: i64, price: i64| (Some(Decimal::from(stock)), Some(Decimal::from(price)));
    let before = levels(5, 10);
    for (op, after, expected) in [
        (Some(Op::Update), levels(4, 10), &["product.stock_updated"][..]),
        (Some(Op::Update), levels(5, 11), &["product.price_updated"]),
        (Some(Op::Update), levels(4, 11), &["product.stock_updated", "product.price_updated"]),
        (Some(Op::Update), (None, None), &["product.stock_updated", "product.price_updated"]),
        (Some(Op::Update), before, &[]),
        (Some(Op::Insert), levels(4, 11), &[]),
        (None, levels(4, 11), &[]),
    ] {
        assert_eq!(product_events(op, before, after), expected, "{op:?} {after:?}");
    }
}

#[test]
fn a_change_is_missed_if_only_a_sweep_asked_for_it_and_the_mirror_was_complete() {
    let request =
        |urgency, ids: &[i64]| RefreshRequest { urgency, ids: ids.to_vec(), ..RefreshRequest::default() };
    for (request, receives, is_mirrored, expected) in [
        (request(Urgency::Swept, &[]), true, true, true),
        (request(Urgency::Found, &[]), true, true, true),
        (request(Urgency::Hinted, &[]), true, true, false),
        (request(Urgency::Swept, &[1]), true, true, false),
        (request(Urgency::Swept, &[]), false, true, false),
        (request(Urgency::Swept, &[]), true, false, false),
    ] {
        assert_eq!(
            is_missed(&request, receives, is_mirrored),
            expected,
            "{request:?} {receives} {is_mirrored}"
        );
    }
}

#[test]
fn the_lag_counts_from_the_event_or_from_the_change_that_a_sweep_found() {
    let told = RefreshRequest { reported_at: Some(at(5)), ids: vec![1], ..RefreshRequest::default() };
    let found = RefreshRequest::default();
    for (request, is_shown, is_written, is_mirrored, expected, why) in [
        (&told, true, true, true, Some(at(5)), "the event"),
        (&told, true, false, false, Some(at(5)), "the mirror had it already"),
        (&told, false, true, true, None, "the marketplace does not show it yet"),
        (&found, true, true, true, Some(at(9)), "the change"),
        (&found, true, false, true, None, "nothing changed"),
        (&found, true, true, false, None, "the first reconciliation is not over"),
    ] {
        let since = changed_since(request, is_shown, is_written, Some(at(9)), is_mirrored);
        assert_eq!(since, expected, "{why}");
    }
    assert_eq!(changed_since(&found, true, true, None, true), None, "nobody says when");
}
