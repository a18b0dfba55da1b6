//! The financial side of orders: splits, discounts and commissions.

use espelho_model::{
    OrderNumber,
    financial::{AppliedBenefit, CommissionAudit, OrderFinancial, RevenueSplit},
    sync::Counts,
};

use super::{
    record::Record,
    table::{Scope, Table},
};
use crate::{Error, mirror::MirrorWriter};

pub(crate) static BENEFITS: Table = Table::new(
    "order_benefits",
    "order_benefit",
    Scope::InKey("order_number"),
    "id",
    &["type", "code", "name", "amount"],
);
pub(crate) static SPLITS: Table = Table::new(
    "order_splits",
    "order_split",
    Scope::InKey("order_number"),
    "id",
    &["party", "name", "amount", "percent", "status"],
);
pub(crate) static COMMISSIONS: Table = Table::new(
    "order_commissions",
    "order_commission",
    Scope::InKey("order_number"),
    "line_id",
    &["product_id", "base", "percent", "amount"],
);

impl MirrorWriter<'_, '_> {
    /// Mirrors the whole financial view of an order (API document, "Orders": the financial route).
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn write_financial(
        &mut self,
        order: &OrderNumber,
        financial: OrderFinancial,
    ) -> Result<Counts, Error> {
        let order = Some(order.as_str());
        let splits = financial.splits.into_iter().map(split_record).collect();
        let benefits = financial.benefits.into_iter().map(benefit_record).collect();
        let commissions = financial.commissions.into_iter().map(commission_record).collect();
        let mut counts = self.page.tables().write_whole(&SPLITS, order, splits).await?;
        counts.add(self.page.tables().write_whole(&BENEFITS, order, benefits).await?);
        counts.add(self.page.tables().write_whole(&COMMISSIONS, order, commissions).await?);
        Ok(counts)
    }
}

fn split_record(split: RevenueSplit) -> Record {
    let values = [
        split.party.into(),
        split.name.into(),
        split.amount.into(),
        split.percent.into(),
        split.status.into(),
    ];
    Record::new(split.id, values, split.raw)
}

fn benefit_record(benefit: AppliedBenefit) -> Record {
    let values =
        [benefit.benefit_type.into(), benefit.code.into(), benefit.name.into(), benefit.amount.into()];
    Record::new(benefit.id, values, benefit.raw)
}

fn commission_record(audit: CommissionAudit) -> Record {
    let values = [audit.product_id.into(), audit.base.into(), audit.percent.into(), audit.amount.into()];
    Record::new(audit.line_id, values, audit.raw)
}
