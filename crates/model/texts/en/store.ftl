# Words that the database says by itself: rows that nobody works on, and sentences of views. `.next` is the next step.

store-service-stopped = The service is stopped: no order arrives and nothing is sent.
    .next = sudo systemctl enable --now espelho espelho.socket; journalctl -u espelho -n 20

store-taken-unknown-store = erp_orders names the store “{ $store }”, which this installation never had: these orders do not count as taken.
    .next = Change store in erp_orders to the name of a configured store, or delete these rows.
store-unknown-store = There is no store “{ $store }” in this installation. Configured stores: { $known }{ $more ->
        [0] {""}
       *[other] {" "}(and { $more } more)
    }.
    .next = { $alike ->
        [0] Change store to the name of a configured store, or configure this store: the row returns to the queue by itself.
       *[other] Change store to { $nearest }, or configure this store: the row returns to the queue by itself.
    }

store-campaign-price = The price frozen in the campaign no longer fits the current price.
    .next = Look at v_campaign_drift. Ask the marketplace in the portal, or restore the price.

store-price-zero = The marketplace shows a price of zero.
    .next = Write the price to erp_prices, or correct it in the portal.
