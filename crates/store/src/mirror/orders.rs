//! Orders and their lines.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::Arc,
};

use chrono::{DateTime, Utc};
use espelho_model::{
    ContentHash,
    order::{Order, OrderItem},
    privacy::Privacy,
};

use crate::{
    Error, Op,
    driver::{Insert, Value},
    mirror::{
        MirrorWriter,
        edited::Comparison,
        erased::without_person,
        protected,
        rows::{ResourceStatements, last_of_each},
    },
};

pub(crate) static MIRROR: ResourceStatements = ResourceStatements {
    entity: "order",
    known: "SELECT order_number, listing_hash, content_hash, gone_at IS NOT NULL FROM orders WHERE store = $1 AND \
        order_number",
    count: "SELECT count(*) FROM orders WHERE store = $1",
    live: "SELECT order_number FROM orders WHERE store = $1 AND order_number > $2 AND gone_at IS NULL \
           ORDER BY order_number LIMIT 1000",
    gone: "UPDATE orders SET gone_at = $2 WHERE store = $1 AND gone_at IS NULL AND order_number",
    dependents_gone: &[ITEMS_GONE, RESCHEDULE],
    relist: "UPDATE orders SET listing_hash = $2 WHERE store = $1 AND order_number = $3",
};

pub(crate) const UPSERT: Insert = Insert {
    operation: "mirror orders",
    head: "INSERT INTO orders (store, order_number, listing_hash, content_hash, mirrored_at, status, workflow_type, \
        type, \
           channel, delivery_method, checkout_group_id, customer_id, customer_name, total_products, total_shipping, \
           total_discounts, total_order, items_count, lines_count, payment_method, payment_status, payment_expires_at, \
           is_collective, is_awaiting_campaign, release_at, picked_up_at, notes, created_at, updated_at, raw, \
           status_label, \
           customer_city, customer_state, ship_by, invoice_by, pick_by, unread_since)",
    columns: 37,
    tail: "ON CONFLICT (store, order_number) DO UPDATE SET listing_hash = excluded.listing_hash, \
           content_hash = excluded.content_hash, gone_at = NULL, mirrored_at = excluded.mirrored_at, \
           status = excluded.status, workflow_type = excluded.workflow_type, type = excluded.type, \
           channel = excluded.channel, delivery_method = excluded.delivery_method, \
           checkout_group_id = excluded.checkout_group_id, customer_id = excluded.customer_id, \
           customer_name = excluded.customer_name, total_products = excluded.total_products, \
           total_shipping = excluded.total_shipping, total_discounts = excluded.total_discounts, \
           total_order = excluded.total_order, items_count = excluded.items_count, lines_count = excluded.lines_count, \
           payment_method = excluded.payment_method, payment_status = excluded.payment_status, \
           payment_expires_at = excluded.payment_expires_at, is_collective = excluded.is_collective, \
           is_awaiting_campaign = excluded.is_awaiting_campaign, release_at = excluded.release_at, \
           picked_up_at = excluded.picked_up_at, notes = excluded.notes, created_at = excluded.created_at, \
           updated_at = excluded.updated_at, raw = excluded.raw, status_label = excluded.status_label, \
           customer_city = excluded.customer_city, customer_state = excluded.customer_state, \
           ship_by = excluded.ship_by, invoice_by = excluded.invoice_by, pick_by = excluded.pick_by, \
           unread_since = excluded.unread_since \
           WHERE orders.content_hash <> excluded.content_hash OR orders.gone_at IS NOT NULL",
};
/// The same for orders that the mirror does not have: nothing to compare with.
pub(crate) const INSERT: Insert = Insert { tail: "", ..UPSERT };
pub(crate) const UPSERT_ITEMS: Insert = Insert {
    operation: "mirror order lines",
    head: "INSERT INTO order_items (store, order_number, id, mirrored_at, product_id, sku, quantity, unit_price, \
        net_value, \
           price_scale, stock_status, is_blocking_stock, raw, name)",
    columns: 14,
    tail: "ON CONFLICT (store, order_number, id) DO UPDATE SET gone_at = NULL, mirrored_at = excluded.mirrored_at, \
           product_id = excluded.product_id, sku = excluded.sku, quantity = excluded.quantity, \
           unit_price = excluded.unit_price, net_value = excluded.net_value, price_scale = excluded.price_scale, \
           stock_status = excluded.stock_status, is_blocking_stock = excluded.is_blocking_stock, raw = excluded.raw, \
           name = excluded.name",
};
pub(crate) const INSERT_ITEMS: Insert = Insert { tail: "", ..UPSERT_ITEMS };
pub(crate) const ITEMS_GONE: &str =
    "UPDATE order_items SET gone_at = $2 WHERE store = $1 AND gone_at IS NULL AND order_number";
pub(crate) const SKUS_OF_PRODUCTS: &str =
    "SELECT id, sku FROM products WHERE store = $1 AND sku IS NOT NULL AND id";
/// The next write takes an order whose fingerprint it does not know.
pub(crate) const DISTRUST: &str = "UPDATE orders SET content_hash = 0 WHERE store = $1 AND order_number";
/// Of an order that changed or went, the engine decides anew when it is read again.
pub(crate) const RESCHEDULE: &str = "UPDATE order_parts SET due_at = $2, is_young = NULL \
    WHERE store = $1 AND part = 'shipments' AND order_number";

/// An order to mirror.
#[derive(Clone, Debug)]
pub struct OrderWrite {
    /// The order.
    pub order: Order,
    /// The fingerprint of its listing row.
    pub listing_hash: ContentHash,
    /// Whether it is new in the mirror.
    pub op: Op,
}

impl MirrorWriter<'_, '_> {
    /// Mirrors orders with their lines and appends them to the change feed. The list must not contain an order
    /// twice.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn write_orders(&mut self, mut orders: Vec<OrderWrite>) -> Result<(), Error> {
        let (store, at) = (Value::key(self.page.store_key().as_str()), self.page.at());
        let privacy = Arc::clone(self.page.privacy());
        self.name_lines(orders.iter_mut().map(|write| &mut write.order)).await?;
        let written: Vec<_> = orders.iter().map(|w| (&w.order, w.op == Op::Insert)).collect();
        let erased = self.page.erased_among(&written).await?;
        let changes = orders.iter().map(|w| (w.order.number.as_str(), w.op));
        self.page.announce(MIRROR.entity, changes);
        let known = orders.iter().filter(|w| w.op == Op::Update).map(|w| w.order.number.as_str().to_owned());
        let known: Vec<String> = known.collect();
        let first = [store.clone(), at.into()];
        // The insert below clears the mark of lines that still exist, in the same transaction.
        self.page.tx.execute_in("mark order lines as gone", ITEMS_GONE, &first, known.clone()).await?;
        self.page.tx.execute_in("reschedule changed orders", RESCHEDULE, &first, known).await?;
        // A page that was refused is written row by row: then a row that exists against all knowledge is updated.
        let is_alone = orders.len() == 1;
        let (new, mirrored): (Vec<_>, Vec<_>) =
            orders.into_iter().partition(|write| write.op == Op::Insert && !is_alone);
        for (orders, into, items_into) in [(new, &INSERT, &INSERT_ITEMS), (mirrored, &UPSERT, &UPSERT_ITEMS)]
        {
            let mut values = OrderRows::with_room_for(orders.iter().map(|write| &write.order));
            for write in orders {
                let is_erased = erased.contains(write.order.number.as_str());
                values.push(&store, at, &privacy, is_erased, write);
            }
            self.page.tx.insert(into, values.orders).await?;
            self.page.tx.insert(items_into, values.lines).await?;
        }
        Ok(())
    }

    /// Returns the mirrored orders whose columns or lines are not those of these orders: somebody has edited them.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn edited_orders(&mut self, mut orders: Vec<Order>) -> Result<HashSet<String>, Error> {
        self.name_lines(orders.iter_mut()).await?;
        let (store, at) = (Value::key(self.page.store_key().as_str()), self.page.at());
        let privacy = Arc::clone(self.page.privacy());
        let numbers: Vec<String> = orders.iter().map(|order| order.number.as_str().to_owned()).collect();
        let erased = self.page.erased_orders(numbers.clone()).await?;
        let mut values = OrderRows::with_room_for(orders.iter());
        for order in orders {
            let is_erased = erased.contains(order.number.as_str());
            // The fingerprint of the listing is not compared.
            let write = OrderWrite { listing_hash: order.raw.content_hash(), op: Op::Update, order };
            values.push(&store, at, &privacy, is_erased, write);
        }
        let mut edited = HashSet::new();
        for (insert, values) in [(&UPSERT, &values.orders), (&UPSERT_ITEMS, &values.lines)] {
            let (group, groups) = ("order_number", numbers.clone());
            let comparison = Comparison { insert, values, group, groups, within: None, is_erased: false };
            edited.extend(self.page.edited(comparison).await?);
        }
        Ok(edited)
    }

    /// Gives lines without a SKU that of their product: the document promises a line's `product_id` only (API document,
    /// "Order"). Lines of products that are not mirrored yet are named when those come.
    async fn name_lines(&mut self, orders: impl Iterator<Item = &mut Order>) -> Result<(), Error> {
        let lines = orders.flat_map(|order| order.items.iter_mut()).filter(|line| line.sku.is_none());
        let lines: Vec<&mut OrderItem> = lines.filter(|line| line.product_id.is_some()).collect();
        let products: BTreeSet<String> = lines.iter().filter_map(|line| line.product_id.clone()).collect();
        if products.is_empty() {
            return Ok(());
        }
        let first = [self.page.store_key().as_str().into()];
        let products = products.into_iter().collect();
        let rows =
            self.page.tx.fetch_in("read the SKUs of products", SKUS_OF_PRODUCTS, &first, products).await?;
        let mut skus = HashMap::new();
        for row in &rows {
            skus.insert(row.text("id")?, row.text("sku")?);
        }
        for line in lines {
            line.sku = line.product_id.as_ref().and_then(|product| skus.get(product).cloned());
        }
        Ok(())
    }

    /// Lets the next write of these orders take them, although they have not changed.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn distrust_orders(&mut self, numbers: Vec<String>) -> Result<(), Error> {
        let first = [self.page.store_key().as_str().into()];
        self.page.tx.execute_in("forget fingerprints of orders", DISTRUST, &first, numbers).await.map(drop)
    }
}

/// The values of orders and of their lines, as erasures and the policy for people's data let them be kept.
struct OrderRows {
    orders: Vec<Value>,
    lines: Vec<Value>,
}

impl OrderRows {
    /// Takes the room for all values at once: an order may have a hundred thousand lines, and a list that grows to
    /// them takes up to three times their room.
    fn with_room_for<'a>(orders: impl ExactSizeIterator<Item = &'a Order>) -> Self {
        let count = orders.len();
        let lines: usize = orders.map(|order| order.items.len()).sum();
        let with_room = |rows: usize, insert: &Insert| Vec::with_capacity(rows * insert.columns);
        Self { orders: with_room(count, &UPSERT), lines: with_room(lines, &UPSERT_ITEMS) }
    }

    fn push(
        &mut self,
        store: &Value,
        at: DateTime<Utc>,
        privacy: &Privacy,
        is_erased: bool,
        write: OrderWrite,
    ) {
        let OrderWrite { mut order, listing_hash, .. } = write;
        // That of the object as received, so that the next read finds the order unchanged.
        let content_hash = privacy.marked(order.raw.content_hash());
        if is_erased {
            order = without_person(order);
        }
        order = protected::order(privacy, order);
        let key = [store.clone(), Value::key(order.number.as_str())];
        for item in last_of_each(std::mem::take(&mut order.items), |item| item.id.clone()) {
            self.lines.extend(item_values(key.clone(), at.into(), item));
        }
        self.orders.extend(order_values(key, (listing_hash, content_hash), at.into(), order));
    }
}

fn order_values(
    [store, number]: [Value; 2],
    (listing_hash, content_hash): (ContentHash, ContentHash),
    at: Value,
    order: Order,
) -> [Value; 37] {
    [
        store,
        number,
        listing_hash.as_i64().into(),
        content_hash.as_i64().into(),
        at.clone(),
        order.status.into(),
        order.workflow_type.into(),
        order.order_type.into(),
        order.channel.into(),
        order.delivery_method.into(),
        order.checkout_group_id.into(),
        order.customer_id.into(),
        order.customer_name.into(),
        order.total_products.into(),
        order.total_shipping.into(),
        order.total_discounts.into(),
        order.total_order.into(),
        order.items_count.into(),
        order.lines_count.into(),
        order.payment_method.into(),
        order.payment_status.into(),
        order.payment_expires_at.into(),
        order.is_collective.into(),
        order.is_awaiting_campaign.into(),
        order.release_at.into(),
        order.picked_up_at.into(),
        order.notes.into(),
        order.created_at.into(),
        order.updated_at.into(),
        order.raw.into(),
        order.status_label.into(),
        order.customer_city.into(),
        order.customer_state.into(),
        order.ship_by.into(),
        order.invoice_by.into(),
        order.pick_by.into(),
        // None of its sub-resources was read after this change.
        at,
    ]
}

fn item_values([store, order_number]: [Value; 2], at: Value, item: OrderItem) -> [Value; 14] {
    [
        store,
        order_number,
        item.id.into_string().into(),
        at,
        item.product_id.into(),
        item.sku.into(),
        item.quantity.into(),
        item.unit_price.into(),
        item.net_value.into(),
        item.price_scale.into(),
        item.stock_status.into(),
        item.is_blocking_stock.into(),
        item.raw.into(),
        item.name.into(),
    ]
}
