//! The rights of the ERP's own role on PostgreSQL: `espelho grants` prints them.

/// The role reads these: the mirror, the feed, the answers to its rows, and the state of the service.
const READ: &[&str] = &[
    "actions",
    "alarms",
    "audit_differences",
    "audits",
    "campaign_listings",
    "campaign_prices",
    "campaigns",
    "changes",
    "conversation_messages",
    "conversations",
    "enums",
    "erased_orders",
    "erasures",
    "label_files",
    "listings",
    "media_images",
    "missing",
    "notice_channels",
    "notice_deliveries",
    "notice_owner",
    "notices",
    "occurrences",
    "order_benefits",
    "order_commissions",
    "order_events",
    "order_invoices",
    "order_items",
    "order_parts",
    "order_splits",
    "orders",
    "pauses",
    "price_lists",
    "product_prices",
    "product_reads",
    "product_stock",
    "products",
    "remote_counts",
    "row_counts",
    "service_words",
    "services",
    "shared_skus",
    "shipment_labels",
    "shipments",
    "stock_locations",
    "store_profiles",
    "stores",
    "sweeps",
    "sync_failures",
    "sync_runs",
    "v_alarms",
    "v_campaign_drift",
    "v_deadlines",
    "v_drift",
    "v_errors",
    "v_invoice_current",
    "v_orders_new",
    "v_orders_open",
    "v_orders_refunded",
    "v_services",
    "v_waiting",
];

/// The role writes these: its intents, the orders that it has taken, and how far it has read the feed.
const WRITE: &[&str] = &["commands", "consumers", "erp_orders", "erp_prices", "erp_stock"];

/// The role does not see these: tokens, secrets, deliveries, the journal, and the service's own records.
const PRIVATE: &[&str] = &[
    "_sqlx_migrations",
    "api_requests",
    "effects",
    "erased_people",
    "erasure_keys",
    "leases",
    "logins",
    "quarantine",
    "rate_blocks",
    "releases",
    "sync_pages",
    "sync_passes",
    "tokens",
    "webhook_addresses",
    "webhook_inbox",
    "webhook_secrets",
    "webhook_watch",
];

/// Returns the SQL that gives a role of the ERP its rights, and takes all others that it had on espelho's tables. It
/// can be run again, and is to be run again after an update: a later version may have more tables.
pub fn grants(role: &str) -> String {
    // A comment ends with its line.
    let shown: String = role.chars().filter(|letter| !letter.is_control()).collect();
    let role_name = quoted(role, '"');
    let literal = quoted(role, '\'');
    let list = |tables: &[&str]| tables.join(", ");
    let (read, write, private) = (list(READ), list(WRITE), list(PRIVATE));
    format!(
        "-- The rights of the ERP's role on espelho's tables. Run it as the owner of the tables, in their schema:\n\
         --   espelho grants --role {shown} | psql DATABASE\n\
         -- Run it again after each update of espelho: a new table is nobody else's until then.\n\
         -- The role has no password yet: \\password {shown}\n\
         DO $$ BEGIN\n\
         \x20   IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = {literal}) THEN\n\
         \x20       CREATE ROLE {role_name} LOGIN;\n\
         \x20   END IF;\n\
         \x20   EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', current_schema(), {literal});\n\
         END $$;\n\
         REVOKE ALL ON {private} FROM {role_name};\n\
         REVOKE ALL ON {read}, {write} FROM {role_name};\n\
         GRANT SELECT ON {read} TO {role_name};\n\
         GRANT SELECT, INSERT, UPDATE, DELETE ON {write} TO {role_name};"
    )
}

/// Returns a name in quotation marks.
fn quoted(name: &str, mark: char) -> String {
    let doubled = format!("{mark}{mark}");
    format!("{mark}{}{mark}", name.replace(mark, &doubled))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_of_any_name_stays_a_name() {
        let sql = grants("er\"p' x");
        assert!(sql.contains("CREATE ROLE \"er\"\"p' x\" LOGIN"), "{sql}");
        assert!(!grants("erp\nDROP TABLE orders;").contains("\nDROP TABLE orders; |"));
        assert!(sql.contains("rolname = 'er\"p'' x'"), "{sql}");
    }
}
