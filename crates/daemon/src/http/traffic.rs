//! The counts of the clients, as lines of `/metrics`.
//!
//! Three thousand stores with sixteen routes each would be fifty thousand lines and six megabytes at every scrape.
//! Above [`STORES_BY_ROUTE`] stores, requests are therefore summed over the stores; durations always are.

use std::collections::BTreeMap;

use espelho_api_client::{
    client_metrics::{BUCKETS, Counted, Histogram, LoginCount, Outcome, Timed},
    limit::Lane,
    route::Route,
};
use espelho_model::StoreKey;

use super::exposition::{head, line};

/// Up to this number of stores, each has its own requests by route: 200 by 16 are 3,200 lines and 400 KiB.
const STORES_BY_ROUTE: usize = 200;

/// Writes all counts of the clients.
pub(super) fn write(text: &mut String, stores: &[(StoreKey, Counted)], timed: &[Timed]) {
    requests(text, stores);
    head(text, "espelho_logins_total", "counter");
    for (store, counted) in stores {
        for (what, count) in LoginCount::ALL.into_iter().zip(counted.logins) {
            let labels = [("store", store.as_str()), ("reason", what.as_str())];
            line(text, "espelho_logins_total", &labels, count as f64);
        }
    }
    head(text, "espelho_unknown_enum_total", "counter");
    for (store, counted) in stores {
        for (field, count) in &counted.unknown_values {
            let labels = [("store", store.as_str()), ("field", *field)];
            line(text, "espelho_unknown_enum_total", &labels, *count as f64);
        }
    }
    head(text, "espelho_shape_drift_total", "counter");
    for (store, counted) in stores {
        for (route, drift) in &counted.drift {
            for (kind, count) in [("unknown", drift.unknown), ("missing", drift.missing)] {
                let labels = [("store", store.as_str()), ("route", *route), ("kind", kind)];
                line(text, "espelho_shape_drift_total", &labels, count as f64);
            }
        }
    }
    durations(text, timed);
}

fn requests(text: &mut String, stores: &[(StoreKey, Counted)]) {
    head(text, "espelho_api_requests_total", "counter");
    let mut write_all = |store: Option<&str>, requests: &BTreeMap<Route, [u64; 3]>| {
        for ((route, method), counts) in requests {
            for (outcome, count) in Outcome::ALL.into_iter().zip(counts).filter(|(_, count)| **count > 0) {
                let mut labels = vec![("route", *route), ("method", *method), ("outcome", outcome.as_str())];
                store.into_iter().for_each(|store| labels.insert(0, ("store", store)));
                line(text, "espelho_api_requests_total", &labels, *count as f64);
            }
        }
    };
    if stores.len() <= STORES_BY_ROUTE {
        stores.iter().for_each(|(store, counted)| write_all(Some(store.as_str()), &counted.requests));
        return;
    }
    let mut sums = BTreeMap::<Route, [u64; 3]>::new();
    for (route, counts) in stores.iter().flat_map(|(_, counted)| &counted.requests) {
        let sum = sums.entry(*route).or_default();
        sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    write_all(None, &sums);
}

fn durations(text: &mut String, timed: &[Timed]) {
    let mut answers = BTreeMap::<&str, Histogram>::new();
    let mut waits = [Histogram::default(); 5];
    for timed in timed {
        for (route, histogram) in &timed.answers {
            add(answers.entry(route).or_default(), histogram);
        }
        waits.iter_mut().zip(&timed.waits).for_each(|(sum, wait)| add(sum, wait));
    }
    let name = "espelho_api_request_duration_seconds";
    head(text, name, "histogram");
    answers.iter().for_each(|(route, histogram)| write_histogram(text, name, ("route", route), histogram));
    let name = "espelho_ratelimit_wait_seconds";
    head(text, name, "histogram");
    for (lane, histogram) in Lane::ALL.into_iter().zip(&waits) {
        write_histogram(text, name, ("lane", lane.name()), histogram);
    }
}

fn add(sum: &mut Histogram, other: &Histogram) {
    sum.counts.iter_mut().zip(other.counts).for_each(|(sum, count)| *sum += count);
    sum.sum += other.sum;
}

/// Writes a histogram; Prometheus expects buckets that include the smaller ones.
fn write_histogram(text: &mut String, name: &str, label: (&str, &str), histogram: &Histogram) {
    let mut below = 0;
    let bounds = BUCKETS.map(|bound| bound.to_string()).into_iter().chain(["+Inf".to_owned()]);
    for (bound, count) in bounds.zip(histogram.counts) {
        below += count;
        line(text, &format!("{name}_bucket"), &[label, ("le", &bound)], below as f64);
    }
    line(text, &format!("{name}_sum"), &[label], histogram.sum);
    line(text, &format!("{name}_count"), &[label], below as f64);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stores(count: usize) -> Vec<(StoreKey, Counted)> {
        let mut counted = Counted::default();
        counted.requests.insert(("/api/v1/sellers/orders/{id}", "GET"), [3, 0, 1]);
        (0..count).map(|n| (StoreKey::new(&format!("loja-{n}")).unwrap(), counted.clone())).collect()
    }

    fn written(stores: &[(StoreKey, Counted)], timed: &[Timed]) -> String {
        let mut text = String::new();
        write(&mut text, stores, timed);
        text
    }

    #[test]
    fn each_store_has_its_requests_by_route_until_there_are_too_many_stores() {
        let few = written(&stores(2), &[]);
        let line = r#"espelho_api_requests_total{store="loja-1",route="/api/v1/sellers/orders/{id}",method="GET",outcome="ambiguous"} 1"#;
        assert!(few.contains(line) && !few.contains("not_applied"), "{few}");
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
