//! Identifiers with any content stay on their own route.
#![expect(clippy::unwrap_used, reason = "these are tests")]

mod support;

use espelho_api_client::{
    ApiRequest,
    resources::{orders, shipments},
};
use espelho_model::{LabelId, OrderNumber, ShipmentId};

use support::{bench, http};

const HOSTILE: [&str; 14] = [
    "a/b?c#d",
    "..",
    ".",
    "",
    "%2e%2e",
    "%2E%2E/",
    "../../auth",
    "com espaço",
    "🦜",
    "\u{0}",
    "a\r\nX: y",
    "\\..\\",
    ";v=1",
    "&x=%00",
];

/// Returns a request of every route with an identifier, with the text in each identifier.
fn requests(id: &str) -> Vec<ApiRequest> {
    let (order, shipment, label) = (OrderNumber::new(id), ShipmentId::new(id), LabelId::new(id));
    vec![
        orders::read::request(&order),
        orders::next_action::request(&order),
        orders::Transition::preparing().request(&order),
        orders::tracking::request(&order),
        orders::timeline::request(&order),
        orders::financial::request(&order),
        orders::notes::request(&order, None),
        orders::fiscal::request(&order),
        shipments::list::request(&order),
        shipments::labels::generate_request(&order),
        shipments::labels::labels_request(&shipment),
        shipments::download::request(&shipment, &label),
    ]
}

/// Returns whether a path is the route with one segment for each identifier.
fn is_at(path: &str, route: &str) -> bool {
    let (path, route): (Vec<_>, Vec<_>) = (path.split('/').collect(), route.split('/').collect());
    let fits = |(segment, part): (&&str, &&str)| match part.starts_with('{') {
        true => !segment.is_empty() && !segment.chars().all(|c| c == '.'),
        false => segment == part,
    };
    path.len() == route.len() && path.iter().zip(&route).all(fits)
}

// proves: ORD-045
// withstands: F122
#[test]
fn the_request_of_every_route_stays_on_its_route_whatever_the_identifier() {
    for id in HOSTILE {
        for request in requests(id) {
            let (_, path) =
                request.describe().split_once(' ').map(|(m, p)| (m.to_owned(), p.to_owned())).unwrap();
            assert!(is_at(&path, request.route()), "{id:?}: {path} is not {}", request.route());
            let url = reqwest::Url::parse(&format!("https://m.example{path}")).unwrap();
            assert!(is_at(url.path(), request.route()), "{id:?}: {url} is not {}", request.route());
            assert_eq!(
                (url.query(), url.fragment(), url.host_str()),
                (None, None, Some("m.example")),
                "{id:?}"
            );
        }
    }
}

// withstands: F122
#[tokio::test]
async fn on_the_wire_a_hostile_identifier_is_one_segment_too() {
    let bench = bench(Vec::new()).await;
    for id in HOSTILE {
        bench.script.answers.lock().unwrap().push_back(http("404 Not Found", "", "{}"));
        bench.client.orders().events(&OrderNumber::new(id)).await.unwrap_err();
    }
    let lines = bench.lines();
    assert_eq!(lines.len(), HOSTILE.len());
    for (line, id) in lines.iter().zip(HOSTILE) {
        let path = line.strip_prefix("GET ").and_then(|line| line.strip_suffix(" HTTP/1.1")).unwrap();
        assert!(is_at(path, "/api/v1/sellers/orders/{id}/events"), "{id:?}: {path}");
    }
}
