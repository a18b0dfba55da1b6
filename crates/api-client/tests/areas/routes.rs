//! The addresses of requests, built but not sent.

use espelho_api_client::{
    ApiRequest,
    resources::{
        campaigns::{self, EligibleQuery, OptIn},
        categories::{AttributeQuery, CategoryLevel},
        listings::{self, ListingDraft, ListingTitle},
        media::{self, MediaQuery},
        orders::OrderQuery,
        paging::Paging,
        price_lists,
        products::{Movement, Price, ProductQuery, Quantity, Tier, TierList, gallery},
        store_page::Picture,
    },
};
use espelho_model::{CampaignId, CategoryId, ItemId, LocationId, MediaId, ProductId};

/// Returns one request of each route family beside orders.
fn requests() -> Vec<ApiRequest> {
    let campaign = CampaignId::new(7);
    let draft = ListingDraft::new(ListingTitle::new("title", "A").unwrap());
    let joining = OptIn::new([ItemId::new("MPB-0000000000001")]).unwrap();
    vec![
        campaigns::calendar_request(Paging::default()),
        EligibleQuery::default().request(campaign),
        joining.request(campaign),
        price_lists::settings_request(true),
        ProductQuery { page: 1, page_parameter: "page".into(), ..ProductQuery::default() }.request(),
        Tier::Base(Price::new(1.into()).unwrap()).update_request(&ProductId::new("P1")),
        MediaQuery::default().request(),
        CategoryLevel::default().request(),
        AttributeQuery::default().request(CategoryId::new(1)),
        draft.create_request(),
        Picture::Logo.delete_request(),
    ]
}

// proves: VER-001
#[test]
fn order_routes_carry_a_version_and_no_others_do() {
    for request in requests() {
        assert!(request.route().starts_with("/api/"), "{}", request.describe());
        assert!(!request.route().contains("/v1/"), "{}", request.describe());
    }
    let orders = OrderQuery { page: 1, page_parameter: "page".into(), ..OrderQuery::default() }.request();
    assert!(orders.route().starts_with("/api/v1/sellers/orders"), "{}", orders.describe());
}

#[test]
fn no_identifier_leaves_its_place_in_the_route() {
    let price = Price::new(1.into()).unwrap();
    for (hostile, safe) in [
        ("a/b?c#d", "a%2Fb%3Fc%23d"),
        ("..", "%252E%252E"),
        ("%2e%2e", "%252e%252e"),
        ("x y", "x%20y"),
        ("☕", "%E2%98%95"),
    ] {
        let (id, media) = (ProductId::new(hostile), MediaId::new(hostile));
        let requests = [
            (Tier::Base(price).update_request(&id), format!("PUT /api/products/{safe}/prices/1")),
            (
                TierList::single(price).create_requests(&id).remove(0),
                format!("POST /api/products/{safe}/prices"),
            ),
            (
                Movement::Set(Quantity::new(1.into()).unwrap()).request(&id, &LocationId::new(hostile)),
                format!("POST /api/products/{safe}/stock"),
            ),
            (gallery::add_request(&id, &media), format!("POST /api/products/{safe}/gallery")),
            (media::delete_request(&media), format!("DELETE /api/media/{safe}")),
            (listings::publish_request(&ItemId::new(hostile)), format!("PUT /api/items/{safe}/publish")),
        ];
        for (request, expected) in requests {
            assert_eq!(request.describe(), expected);
        }
    }
}
