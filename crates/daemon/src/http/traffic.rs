//! The counts of the clients, as lines of `/metrics`.
//!
//! Three thousand stores with sixteen routes each would be fifty thousand lines and six megabytes at every scrape.
//! Above [`STORES_BY_ROUTE`] stores, requests are therefore summed over the stores; durations always are.

use std::collections::BTreeMap;

use espelho_api_client::{
    client_metrics::{BUCKETS, Counted, Histogram, LoginCount, Outcome, RequestCounts, Timed},
    limit::Lane,
};
use espelho_model::StoreKey;

use crate::metric::{Exposition, list};

/// Up to this number of stores, each has its own requests by route: 200 by 16 are 3,200 lines and 400 KiB.
const STORES_BY_ROUTE: usize = 200;

/// Writes all counts of the clients.
pub(super) fn write(text: &mut Exposition, stores: &[(StoreKey, Counted)], timed: &[Timed]) {
    requests(text, stores);
    let mut family = text.family(&list::LOGINS);
    for (store, counted) in stores {
        for (what, count) in LoginCount::ALL.into_iter().zip(counted.logins) {
            family.line(&[store.as_str(), what.as_str()], count as f64);
        }
    }
    let mut family = text.family(&list::UNKNOWN_ENUM);
    for (store, counted) in stores {
        for (field, count) in &counted.unknown_values {
            family.line(&[store.as_str(), field], *count as f64);
        }
    }
    let mut family = text.family(&list::SHAPE_DRIFT);
    for (store, counted) in stores {
        for (route, drift) in &counted.drift {
            for (kind, count) in [("unknown", drift.unknown), ("missing", drift.missing)] {
                family.line(&[store.as_str(), route, kind], count as f64);
            }
        }
    }
    durations(text, timed);
}

fn requests(text: &mut Exposition, stores: &[(StoreKey, Counted)]) {
    let mut family = text.family(&list::API_REQUESTS);
    let mut write_all = |store: Option<&str>, requests: &RequestCounts| {
        for ((route, method), counts) in requests.iter() {
            for (outcome, count) in Outcome::ALL.into_iter().zip(counts).filter(|(_, count)| **count > 0) {
                let values = store.into_iter().chain([*route, *method, outcome.as_str()]);
                family.line(&values.collect::<Vec<_>>(), *count as f64);
            }
        }
    };
    if stores.len() <= STORES_BY_ROUTE {
        stores.iter().for_each(|(store, counted)| write_all(Some(store.as_str()), &counted.requests));
        return;
    }
    let mut sums = RequestCounts::default();
    stores.iter().for_each(|(_, counted)| sums.add(&counted.requests));
    write_all(None, &sums);
}

fn durations(text: &mut Exposition, timed: &[Timed]) {
    let mut answers = BTreeMap::<&str, Histogram>::new();
    let mut waits = [Histogram::default(); 5];
    for timed in timed {
        for (route, histogram) in &timed.answers {
            add(answers.entry(route).or_default(), histogram);
        }
        waits.iter_mut().zip(&timed.waits).for_each(|(sum, wait)| add(sum, wait));
    }
    let mut family = text.family(&list::API_REQUEST_DURATION);
    for (route, histogram) in &answers {
        family.histogram(&[route], &BUCKETS, &histogram.counts, histogram.sum);
    }
    let mut family = text.family(&list::RATELIMIT_WAIT);
    for (lane, histogram) in Lane::ALL.into_iter().zip(&waits) {
        family.histogram(&[lane.name()], &BUCKETS, &histogram.counts, histogram.sum);
    }
}

fn add(sum: &mut Histogram, other: &Histogram) {
    sum.counts.iter_mut().zip(other.counts).for_each(|(sum, count)| *sum += count);
    sum.sum += other.sum;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stores(count: usize) -> Vec<(StoreKey, Counted)> {
        let mut counted = Counted::default();
        *counted.requests.of(("/api/v1/sellers/orders/{id}", "GET")) = [3, 0, 1];
        (0..count).map(|n| (StoreKey::new(&format!("loja-{n}")).unwrap(), counted.clone())).collect()
    }

    fn written(stores: &[(StoreKey, Counted)], timed: &[Timed]) -> String {
        let mut text = Exposition::default();
        write(&mut text, stores, timed);
        text.into_text()
    }

    #[test]
    fn each_store_has_its_requests_by_route_until_there_are_too_many_stores() {
        let few = written(&stores(2), &[]);
        let line = r#"espelho_api_requests_total{store="loja-1",route="/api/v1/sellers/orders/{id}",method="GET",outcome="ambiguous"} 1"#;
        assert!(few.contains(line) && !few.contains("outcome=\"not_applied\""), "{few}");
        let many = written(&stores(3_095), &[]);
        let line = r#"espelho_api_requests_total{route="/api/v1/sellers/orders/{id}",method="GET",outcome="ok"} 9285"#;
        assert!(many.contains(line), "the sum over the stores");
        assert!(many.len() < 1 << 20, "{} bytes", many.len());
    }

    #[test]
    fn buckets_include_the_smaller_ones_and_both_marketplaces() {
        let mut timed = Timed::default();
        timed.answers.insert("/r", Histogram { counts: [1, 0, 2, 0, 0, 0, 0, 1], sum: 400.5 });
        let text = written(&[], &[timed.clone(), timed]);
        for line in [
            r#"espelho_api_request_duration_seconds_bucket{route="/r",le="0.05"} 2"#,
            r#"espelho_api_request_duration_seconds_bucket{route="/r",le="0.25"} 6"#,
            r#"espelho_api_request_duration_seconds_bucket{route="/r",le="+Inf"} 8"#,
            r#"espelho_api_request_duration_seconds_sum{route="/r"} 801"#,
            r#"espelho_ratelimit_wait_seconds_count{lane="poll"} 0"#,
        ] {
            assert!(text.contains(line), "no {line} in\n{text}");
        }
    }
}
