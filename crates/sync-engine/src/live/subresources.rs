//! The sub-resources of an order, each with a route of its own.

use espelho_api_client::{Client, Error as ApiError, HeldAnswers};
use espelho_model::{
    ContentHash, OrderNumber, RawJson, fault, financial::OrderFinancial, fiscal::FiscalDocument,
    shipment::Shipment, sync::Counts, timeline::OrderEvent, tracking::OrderTracking,
};
use espelho_store::{Error as StoreError, LeaseTx, Subresource};

/// A sub-resource that was read.
pub(crate) struct FetchedSubresource {
    pub(crate) subresource: Subresource,
    pub(crate) hash: ContentHash,
    /// Its share of the memory budget, until it is written.
    _held: HeldAnswers,
    content: SubresourceContent,
}

enum SubresourceContent {
    Invoices(Vec<FiscalDocument>),
    Events(Vec<OrderEvent>),
    Financial(OrderFinancial),
    Shipments(Vec<Shipment>),
    Tracking(OrderTracking),
    /// The marketplace has none, or does not show it to us.
    Nothing,
}

impl FetchedSubresource {
    /// Reads a sub-resource. That it does not exist (an order without shipments answers so), or is not for us, is an
    /// answer too: it is not requested again before the order changes.
    pub(crate) async fn read(
        client: &Client,
        number: &OrderNumber,
        subresource: Subresource,
    ) -> Result<Self, ApiError> {
        fault::point("subresource", number.as_str());
        let (client, held) = client.holding();
        let read = match subresource {
            Subresource::Invoices => {
                client.orders().fiscal(number).await.map(|read| SubresourceContent::Invoices(read.value))
            }
            Subresource::Events => {
                client.orders().events(number).await.map(|read| SubresourceContent::Events(read.value))
            }
            Subresource::Financial => {
                client.orders().financial(number).await.map(|read| SubresourceContent::Financial(read.value))
            }
            Subresource::Shipments => client
                .shipments()
                .of_order(number)
                .await
                .map(|read| SubresourceContent::Shipments(read.value)),
            Subresource::Tracking => {
                client.orders().tracking(number).await.map(|read| SubresourceContent::Tracking(read.value))
            }
            Subresource::Order => Ok(SubresourceContent::Nothing),
        };
        let content = match read {
            Err(ApiError::Refused { status: 403, .. }) => SubresourceContent::Nothing,
            Err(error) if error.is_absent() => SubresourceContent::Nothing,
            other => other?,
        };
        Ok(Self { subresource, hash: content.hash(), _held: held, content })
    }

    /// Writes the sub-resource; returns what that changed.
    pub(crate) async fn write(
        self,
        tx: &mut LeaseTx<'_>,
        number: &OrderNumber,
    ) -> Result<Counts, StoreError> {
        match self.content {
            SubresourceContent::Invoices(documents) => tx.mirror().write_invoices(number, documents).await,
            SubresourceContent::Events(events) => tx.mirror().write_order_events(number, events).await,
            SubresourceContent::Financial(financial) => tx.mirror().write_financial(number, financial).await,
            SubresourceContent::Shipments(shipments) => tx.mirror().write_shipments(number, shipments).await,
            SubresourceContent::Tracking(tracking) => tx.mirror().write_tracking(number, tracking).await,
            SubresourceContent::Nothing => Ok(Counts::default()),
        }
    }
}

impl SubresourceContent {
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
