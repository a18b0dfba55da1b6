//! The words of an order: every published value with its label and, where it has one, its colour.

use crate::vocabulary::{Word, vocabulary};

vocabulary! {
    /// The state of an order ("States and transitions" of the document).
    Status {
        WaitingPayment = "waiting_payment", "Aguardando pagamento", "#F59E0B";
        Paid = "paid", "Pago", "#10B981";
        Preparing = "preparing", "Em preparação", "#3B82F6";
        ReadyToShip = "ready_to_ship", "Pronto para envio", "#6366F1";
        Shipped = "shipped", "Enviado", "#8B5CF6";
        Delivered = "delivered", "Entregue", "#059669";
        Completed = "completed", "Concluído", "#047857";
        Cancelled = "cancelled", "Cancelado", "#EF4444";
        PaymentExpired = "payment_expired", "Pagamento expirado", "#9CA3AF";
        ReadyForPickup = "ready_for_pickup", "Pronto para retirada", "#0EA5E9";
        PickedUp = "picked_up", "Retirado", "#14B8A6";
        PickupExpired = "pickup_expired", "Retirada expirada", "#F97316";
        AwaitingCampaign = "awaiting_campaign_conclusion", "Aguardando Campanha", "#A855F7";
        AwaitingAvailability = "awaiting_availability", "Aguardando disponibilidade", "#EAB308";
        AwaitingRestock = "awaiting_restock", "Aguardando reposição", "#D97706";
        ProductionStarted = "production_started", "Produção iniciada", "#0891B2";
        AwaitingMaterials = "awaiting_materials", "Aguardando materiais", "#CA8A04";
        ProductionInProgress = "production_in_progress", "Em produção", "#0284C7";
        ProductionFinished = "production_finished", "Produção finalizada", "#0D9488";
    }
}

impl Status {
    /// True until the goods leave: only these orders have deadlines of the shop's.
    pub(crate) fn is_in_the_shop(self) -> bool {
        !matches!(
            self,
            Self::Shipped
                | Self::Delivered
                | Self::Completed
                | Self::Cancelled
                | Self::PaymentExpired
                | Self::ReadyForPickup
                | Self::PickedUp
                | Self::PickupExpired
        )
    }
}

vocabulary! {
    /// The track that an order follows, set at its creation.
    Workflow {
        Standard = "standard", "Padrão", "";
        Production = "production", "Produção", "";
        InStorePickup = "in_store_pickup", "Retirada na loja", "";
        PreOrder = "pre_order", "Pré-venda", "";
        Backorder = "backorder", "Sob reposição", "";
        Collective = "collective", "Compra coletiva", "";
    }
}

vocabulary! {
    /// The sales channel.
    Channel {
        Marketplace = "marketplace", "Marketplace", "";
        Direct = "direct", "Venda direta", "";
        StoreSeller = "store_seller", "Vendedor da loja", "";
    }
}

vocabulary! {
    /// The order type; the document has seen `standard` only.
    OrderType {
        Standard = "standard", "Padrão", "";
        Wholesale = "wholesale", "Atacado", "";
    }
}

vocabulary! {
    /// How the order reaches the buyer.
    Delivery {
        Shipping = "shipping", "Envio", "";
        Pickup = "pickup", "Retirada", "";
    }
}

vocabulary! {
    /// How the buyer pays.
    PaymentMethod {
        CreditCard = "credit_card", "Cartão de crédito", "";
        Boleto = "boleto", "Boleto bancário", "";
        Voucher = "voucher", "Vale", "";
        DebitCard = "debit_card", "Cartão de débito", "";
        Pix = "pix", "Pix", "";
    }
}

vocabulary! {
    /// The state of the payment.
    PaymentStatus {
        Pending = "pending", "Pendente", "#F59E0B";
        Approved = "approved", "Aprovado", "#10B981";
        Refunded = "refunded", "Estornado", "#6B7280";
        Expired = "expired", "Expirado", "#9CA3AF";
    }
}

vocabulary! {
    /// The stock state of a line, independent of the order's status.
    StockStatus {
        Reserved = "reserved", "Reservado", "#F59E0B";
        SoldReserved = "sold_reserved", "Reservado vendido", "#3B82F6";
        AwaitingRestock = "awaiting_restock", "Aguardando reposição", "#D97706";
        InProduction = "in_production", "Em produção", "#0284C7";
        Committed = "committed", "Baixado", "#10B981";
        Released = "released", "Liberado", "#9CA3AF";
        NotApplicable = "not_applicable", "Sem controle de estoque", "#6B7280";
    }
}

impl StockStatus {
    /// Whether a line in this state holds the order back.
    pub(crate) fn is_blocking(self) -> bool {
        matches!(self, Self::AwaitingRestock | Self::InProduction)
    }
}
