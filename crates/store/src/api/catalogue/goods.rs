//! Products, campaigns, and the store itself.

use super::Description;

pub(super) const PRODUCTS: &[Description] = &[
    Description {
        table: "products",
        key: "store id",
        columns: "store id sku name base_unit price_type is_available_for_sale:flag auto_wholesale_pricing:flag \
            height:number width:number length:number weight:number price:number quantity:number \
            reserved_quantity:number available_quantity:number mirrored_at:time gone_at:time raw:json",
    },
    Description {
        table: "product_prices",
        key: "store product_id min_quantity",
        columns: "store product_id min_quantity:integer value:number discount_percent:number package_weight:number \
            package_height:number package_width:number package_length:number mirrored_at:time gone_at:time \
            raw:json",
    },
    Description {
        table: "product_stock",
        key: "store sku location_id",
        columns: "store sku location_id product_id quantity:number reserved_quantity:number \
            available_quantity:number mirrored_at:time gone_at:time raw:json",
    },
    Description {
        table: "stock_locations",
        key: "store location_id",
        columns: "store location_id name status location_type allows_pickup:flag allows_production:flag \
            mirrored_at:time gone_at:time raw:json",
    },
    Description {
        table: "campaigns",
        key: "store id",
        columns: "store id uid name slug type status starts_at:time ends_at:time opt_in_deadline:time \
            primary_color secondary_color has_landing_page:flag landing_page_slug show_in_menu:flag \
            discount_type discount_value:number rules:json created_at:time updated_at:time mirrored_at:time \
            gone_at:time raw:json",
    },
    Description {
        table: "campaign_listings",
        key: "store campaign_id item_id",
        columns: "store campaign_id item_id title image price:number discount_preview:number enrolled:flag \
            authorized_discount_price:number status mirrored_at:time gone_at:time raw:json",
    },
    Description {
        table: "price_lists",
        key: "store id",
        columns: "store id name mode position:integer is_active:flag mirrored_at:time gone_at:time raw:json",
    },
    Description {
        table: "media_images",
        key: "store id",
        columns: "store id original_source in_use:flag reference_id reference_model created_at:time \
            updated_at:time mirrored_at:time gone_at:time raw:json",
    },
    Description {
        table: "listings",
        key: "store id",
        columns: "store id title type type_label status status_label gtin_type gtin department_id department_name \
            category_id category_name score:number rejection_reason slug short_description price_range:json \
            updated_at:time mirrored_at:time gone_at:time raw:json",
    },
    Description {
        table: "store_profiles",
        key: "store id",
        columns: "store id name code status type auth_type features limits:json tax_id legal_name tax_regime \
            short_description description full_description foundation_date logo_url background_url page:json \
            mirrored_at:time gone_at:time raw:json",
    },
];
