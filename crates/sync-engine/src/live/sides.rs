//! The sides of an order that routes of their own tell.

use espelho_api_client::{Client, Error as ApiError};
use espelho_model::{
    ContentHash, OrderNumber, RawJson, financial::OrderFinancial, fiscal::FiscalDocument, shipment::Shipment,
    timeline::OrderEvent, tracking::OrderTracking,
};
use espelho_store::{Error as StoreError, PageTx, Part};

/// A side that was read.
pub(crate) struct Side {
    pub(crate) part: Part,
    pub(crate) hash: ContentHash,
    told: Told,
}

enum Told {
    Invoices(Vec<FiscalDocument>),
    Events(Vec<OrderEvent>),
    Financial(OrderFinancial),
    Shipments(Vec<Shipment>),
    Tracking(OrderTracking),
    /// The marketplace has none, or does not show it to us.
    Nothing,
}

impl Side {
    /// Reads a side. That it is not there (an order without shipments answers so), or not for us, is an answer too: it is
    /// not asked for again before the order changes.
    pub(crate) async fn read(client: &Client, number: &OrderNumber, part: Part) -> Result<Self, ApiError> {
        let read = match part {
            Part::Invoices => client.order_fiscal(number).await.map(|read| Told::Invoices(read.value)),
            Part::Events => client.order_events(number).await.map(|read| Told::Events(read.value)),
            Part::Financial => client.order_financial(number).await.map(|read| Told::Financial(read.value)),
            Part::Shipments => client.order_shipments(number).await.map(|read| Told::Shipments(read.value)),
            Part::Tracking => client.order_tracking(number).await.map(|read| Told::Tracking(read.value)),
            Part::Order => Ok(Told::Nothing),
        };
        let told = match read {
            Err(ApiError::Refused { status: 403 | 404, .. }) => Told::Nothing,
            other => other?,
        };
        Ok(Self { part, hash: told.hash(), told })
    }

    /// Writes it.
    pub(crate) async fn write(self, tx: &mut PageTx<'_>, number: &OrderNumber) -> Result<(), StoreError> {
        match self.told {
            Told::Invoices(documents) => tx.write_invoices(number, documents).await,
            Told::Events(events) => tx.write_order_events(number, events).await,
            Told::Financial(financial) => tx.write_financial(number, financial).await,
            Told::Shipments(shipments) => tx.write_shipments(number, shipments).await,
            Told::Tracking(tracking) => tx.write_tracking(number, tracking).await,
            Told::Nothing => return Ok(()),
        }
        .map(drop)
    }
}

impl Told {
    fn hash(&self) -> ContentHash {
        let raws: Vec<&RawJson> = match self {
            Self::Invoices(documents) => documents.iter().map(|document| &document.raw).collect(),
            Self::Events(events) => events.iter().map(|event| &event.raw).collect(),
            Self::Financial(financial) => vec![&financial.raw],
            Self::Shipments(shipments) => shipments.iter().map(|shipment| &shipment.raw).collect(),
            Self::Tracking(tracking) => vec![&tracking.raw],
            Self::Nothing => Vec::new(),
        };
        let texts: Vec<&str> = raws.into_iter().map(RawJson::as_str).collect();
        ContentHash::of(texts.join("\n").as_bytes())
    }
}
