//! Products, prices, stock, images, categories and listings, read by both readers.

use espelho_api_client::resources::{
    categories::{AttributeQuery, CategoryLevel},
    listings::{ListingDraft, ListingTitle},
    media::{MediaPerPage, MediaQuery},
    products::{ProductDetail, ProductQuery},
};
use espelho_model::{CategoryId, ContentHash, ProductId, media::MediaImage};

use crate::sides::{Json, Sides, all_kept, kept, told, whole};

/// Reads all of them.
pub(crate) async fn read(sides: &Sides) {
    let query = ProductQuery { per_page: Some(100), page: 1, page_parameter: "page".into() };
    let listed = sides.client.products().list(&query).await.unwrap();
    let rows = sides.data("/api/products?per_page=100").await.page();
    let hashes: Vec<_> = rows.iter().map(|row| ContentHash::of(row.0.as_bytes())).collect();
    assert_eq!(listed.rows.iter().map(|row| row.hash).collect::<Vec<_>>(), hashes);
    assert_eq!((listed.rows_without_id, listed.rows.len() as u64), (0, listed.meta.total.unwrap()));
    for row in listed.rows {
        product(sides, &ProductId::new(row.key)).await;
    }
    units(sides).await;
    images(sides).await;
    categories(sides).await;
}

async fn product(sides: &Sides, id: &ProductId) {
    let detail = whole(sides.client.products().get(id).await.unwrap(), "product");
    let sent = sides.data(&format!("/api/products/{id}")).await;
    check_product(&detail, &sent);
    let sku = detail.product.sku.clone().unwrap();
    let prices = whole(sides.client.products().prices(id).await.unwrap(), "prices");
    let rows = sides.data(&format!("/api/products/{id}/prices")).await.rows();
    all_kept(prices.iter().map(|tier| &tier.raw), &rows);
    for (tier, row) in prices.iter().zip(&rows) {
        let digits = |number: Option<rust_decimal::Decimal>| number.map(|number| number.to_string());
        told(
            row,
            &[
                ("min_quantity", Some(tier.min_quantity.to_string())),
                ("value", digits(tier.value)),
                ("discount_percent", digits(tier.discount_percent)),
                ("package_weight", digits(tier.package_weight)),
                ("package_height", digits(tier.package_height)),
                ("package_width", digits(tier.package_width)),
                ("package_length", digits(tier.package_length)),
            ],
        );
    }
    let stock = whole(sides.client.products().stock(id, None).await.unwrap(), "stock");
    let sent = sides.data(&format!("/api/products/{id}/stock")).await;
    all_kept(stock.levels.iter().map(|level| &level.raw), &sent.at("stocks").rows());
    all_kept(stock.locations.iter().map(|place| &place.raw), &sent.at("locations").rows());
    assert!(stock.levels.iter().all(|level| level.sku == sku && level.quantity.is_some()));
    for (place, row) in stock.locations.iter().zip(sent.at("locations").rows()) {
        let id = Some(place.id.as_str().to_owned());
        told(
            &row,
            &[
                ("location_id", id),
                ("name", place.name.clone()),
                ("location_type", place.location_type.clone()),
            ],
        );
    }
}

fn check_product(detail: &ProductDetail, sent: &Json) {
    let (product, own) = (&detail.product, sent.at("product"));
    kept(&product.raw, &own);
    all_kept(product.prices.iter().map(|tier| &tier.raw), &sent.at("prices").rows());
    all_kept(product.stock.iter().map(|level| &level.raw), &sent.at("stock").rows());
    let digits = |number: Option<rust_decimal::Decimal>| number.map(|number| number.to_string());
    told(
        &own,
        &[
            ("name", product.name.clone()),
            ("sku", product.sku.as_ref().map(|sku| sku.as_str().to_owned())),
            ("base_unit", product.base_unit.clone()),
            ("price_type", product.price_type.clone()),
            ("price", digits(product.price)),
            ("quantity", digits(product.quantity)),
            ("reserved_quantity", digits(product.reserved_quantity)),
            ("available_quantity", digits(product.available_quantity)),
        ],
    );
    if let Some(size) = own.get("dimensions") {
        let measures = [("height", product.height), ("width", product.width), ("length", product.length)];
        told(&size, &measures.map(|(name, measure)| (name, digits(measure))));
        told(&size, &[("weight", digits(product.weight))]);
    }
    assert!(detail.has_prices && detail.has_stock && product.auto_wholesale_pricing.is_some());
    let resources = detail.extras.thumbnail.as_ref().map(|thumbnail| thumbnail.resources.len());
    assert_eq!(resources, own.get("thumbnail").map(|thumbnail| thumbnail.at("resources").rows().len()));
}

async fn units(sides: &Sides) {
    let units = whole(sides.client.products().units().await.unwrap(), "units");
    let rows = sides.data("/api/global/enums/product/units").await.rows();
    let sent: Vec<_> = rows.iter().map(|row| (row.text("value"), Some(row.text("label")))).collect();
    assert_eq!(units.into_iter().map(|unit| (unit.value, unit.label)).collect::<Vec<_>>(), sent);
}

fn check_image(image: &MediaImage, sent: &Json) {
    kept(&image.raw, sent);
    told(
        sent,
        &[
            ("id", Some(image.id.as_str().to_owned())),
            ("original_source", image.original_source.clone()),
            ("reference_id", image.reference_id.clone()),
            ("reference_model", image.reference_model.clone()),
            ("in_use", image.in_use.map(|used| used.to_string())),
        ],
    );
    for (variation, row) in image.urls.iter().zip(sent.at("urls").rows()) {
        told(
            &row,
            &[
                ("name", variation.name.clone()),
                ("size", variation.size.clone()),
                ("url", variation.url.clone()),
            ],
        );
    }
    assert_eq!((image.urls.len(), image.created_at.is_some()), (5, true));
}

async fn images(sides: &Sides) {
    let query = MediaQuery { per_page: Some(MediaPerPage::new(100).unwrap()), ..MediaQuery::default() };
    let page = sides.client.media().list(&query).await.unwrap();
    let rows = sides.data("/api/media?per_page=100").await.page();
    assert_eq!((page.rows_without_id, page.rows.len()), (0, rows.len()));
    for (read, row) in page.rows.into_iter().zip(&rows) {
        let listed = whole(read, "image");
        check_image(&listed, row);
        let own = sides.data(&format!("/api/media/{}", listed.id)).await;
        check_image(&whole(sides.client.media().get(&listed.id).await.unwrap(), "image"), &own);
    }
}

/// Follows the first branch of the tree down to a leaf, and reads the attributes that it requires.
async fn categories(sides: &Sides) {
    let departments = sides.client.categories().departments().await.unwrap();
    let rows = sides.data("/api/categories/departaments").await.rows();
    all_kept(departments.rows.iter().map(|row| &row.value.raw), &rows);
    assert!(departments.rows.iter().all(|row| row.value.icon_svg.is_some() && row.unreadable.is_empty()));
    let (mut level, mut path) = (CategoryLevel::default(), "/api/categories/browse".to_owned());
    let leaf = loop {
        let page = sides.client.categories().browse(&level).await.unwrap();
        let rows = sides.data(&path).await.rows();
        all_kept(page.rows.iter().map(|row| &row.value.raw), &rows);
        for (row, sent) in page.rows.iter().zip(&rows) {
            assert!(row.unreadable.is_empty());
            told(sent, &[("name", row.value.name.clone()), ("parent_id", row.value.parent_id.clone())]);
        }
        let first = page.rows[0].value.id;
        if rows[0].text("is_leaf") == "true" {
            break first;
        }
        level = CategoryLevel { parent: Some(first), ..CategoryLevel::default() };
        path = format!("/api/categories/browse?parent_id={first}");
    };
    attributes(sides, leaf).await;
}

async fn attributes(sides: &Sides, category: CategoryId) {
    let mut found = Vec::new();
    for matrix in [false, true] {
        let query = AttributeQuery { matrix, only: None };
        let read = whole(sides.client.categories().attributes(category, &query).await.unwrap(), "attributes");
        let asked = if matrix { "?matrix=true" } else { "" };
        let sent = sides.data(&format!("/api/categories/{category}/attributes{asked}")).await;
        kept(&read.raw, &sent);
        assert_eq!(read.rows_without_id, 0);
        let rows = match matrix {
            true => sent.rows().iter().flat_map(|section| section.at("attributes").rows()).collect(),
            false => sent.rows(),
        };
        all_kept(read.attributes.iter().map(|attribute| &attribute.raw), &rows);
        for (attribute, row) in read.attributes.iter().zip(&rows) {
            let flag = |flag: Option<bool>| flag.map(|flag| flag.to_string());
            told(
                row,
                &[
                    ("name", attribute.name.clone()),
                    ("section", attribute.section.clone()),
                    ("is_required", flag(attribute.is_required)),
                    ("is_variant", flag(attribute.is_variant)),
                    ("is_combinable", flag(attribute.is_combinable)),
                ],
            );
        }
        found.push(rows.len());
    }
    assert_eq!(found[0], found[1]);
}

/// Creates a listing and has it reviewed: the answer to a write is kept like everything else.
pub(crate) async fn write_a_listing(sides: &Sides) {
    let leaf = sides.data("/api/categories/search?search=camisetas").await.rows()[0].text("id");
    let draft = ListingDraft {
        category_id: Some(CategoryId::new(leaf.parse().unwrap())),
        ..ListingDraft::new(ListingTitle::new("title", "Camiseta \"ç\" 📦").unwrap())
    };
    let created = sides.client.listings().create(&draft).await.unwrap();
    assert!(created.unreadable.is_empty(), "{:?}", created.unreadable);
    let id = created.value.unwrap().item_id;
    let published = sides.client.listings().publish(&id).await.unwrap();
    assert!(published.unreadable.is_empty(), "{:?}", published.unreadable);
    let listing = published.value.unwrap();
    assert_eq!(listing.raw, published.raw);
    let sent = Json(published.raw.as_str().to_owned());
    told(&sent, &[("title", listing.title), ("slug", listing.slug), ("item_id", Some(id.into_string()))]);
    told(&sent.at("status"), &[("value", listing.status), ("label", listing.status_label)]);
    told(&sent.at("type"), &[("value", listing.listing_type), ("label", listing.type_label)]);
    kept(&listing.category.unwrap().raw, &sent.at("category"));
    kept(&listing.department.unwrap().raw, &sent.at("department"));
    kept(&listing.store.unwrap(), &sent.at("store"));
}
