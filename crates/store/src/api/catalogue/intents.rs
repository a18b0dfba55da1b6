//! The tables that the ERP writes, and the runs.

use super::Description;

pub(super) const INTENTS: &[Description] = &[
    Description {
        table: "erp_stock",
        key: "store sku location_id",
        columns: "store sku location_id quantity:number state error_code error hint basis updated_at:time \
            pushed_at:time revision:integer",
    },
    Description {
        table: "erp_prices",
        key: "store sku min_quantity",
        columns: "store sku min_quantity:integer price:number discount_percent:number package_weight:number \
            package_height:number package_width:number package_length:number state error_code error hint \
            updated_at:time pushed_at:time revision:integer",
    },
    Description {
        table: "commands",
        key: "id",
        columns: "id:integer store kind key data:json state error_code error hint result:json created_at:time \
            updated_at:time done_at:time",
    },
    Description {
        table: "erp_orders",
        key: "store order_number",
        columns: "store order_number erp_id note taken_at:time",
    },
    Description {
        table: "sync_runs",
        key: "id",
        columns: "id:integer store kind state started_at:time finished_at:time requests:integer seen:integer \
            changed:integer gone:integer failed:integer error",
    },
];
