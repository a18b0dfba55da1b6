# espelho explain: the story of an order, a product, a command or a shipment, in order of time.

explain-placed = order placed
explain-delivered = webhook { $event }, handled at { $handled }
explain-delivered-open = webhook { $event }, still in the inbox
explain-moved = marketplace: { $from } → { $to }
explain-moved-to = marketplace: { $to }
explain-noted = marketplace: { $description }
explain-mirrored = mirror: { $what } { $op ->
    [insert] new
    [update] changed
    [gone] gone from the marketplace
   *[other] { $op }
}
explain-commanded = ERP: command { $key }: { $wish }
explain-answered = { $row }: { $state }
explain-answered-why = { $row }: { $state }: { $error } ({ $code })
explain-way-back = { $what }; only this brings it back: { $back }
explain-was = { $row }: { $state } ({ $code }), until somebody decided
explain-decided = { $row }: { $act ->
    [release] released
    [ignore] ignored
    [happened] ended, because it happened,
    [retry] tried again
    [bring_back] brought back
   *[other] { $act }
} by { $actor }
explain-test-arrived = { $row }: the marketplace accepted the request, and a test delivery arrived at { $heard }
explain-test-unproved = { $row }: the marketplace accepted the request; no test delivery is known to have arrived since
explain-called = call { $request }: { $state }
explain-called-proof = call { $request }: { $state } ({ $proof })
explain-invoiced = { $kind ->
    [nfe] NF-e
    [content_declaration] content declaration
   *[other] invoice ({ $kind })
} { $number }: { $status ->
    [issued] issued
    [cancelled] cancelled
    [processing] processing
    [replaced] replaced
    [error] with an error
   *[other] { $status }
}
explain-replaced = invoice { $number } replaced
explain-shipped = shipment { $id }: { $status }
explain-shipped-tracked = shipment { $id }: { $status }, tracking code { $code }
explain-labelled = label { $id } ({ $format }): { $status }
explain-filed = file of the label: { $file }
explain-filed-void = file of the label, void: { $file }
explain-taken = the ERP has taken the order
explain-taken-as = the ERP has taken the order: { $details }
explain-waiting = waiting for { $age }: { $reason } ({ $code }); goes on by itself
explain-failed = failure: { $error } ({ $code })
explain-unknown = espelho does not know { $key }: check the number, the SKU and the store (--store)
explain-unknown-similar = espelho does not know { $key }; similar: { $similar }
explain-missing = not found at the marketplace since { $since }: confirmed { $times } of { $believed }, next time { $next }
explain-not-mirrored = { $what }: not in the mirror
explain-with-status = { $what }, { $status }
explain-gone = { $what }: gone from the marketplace since { $gone }
explain-mirrored-at = { $what }: mirrored at { $at }

explain-entity = { $entity ->
    [order] order { $key }
    [product] product { $key }
    [shipment] shipment { $key }
    [shipment_label] label { $key }
    [order_invoice] invoice { $key }
    [command] command { $key }
    [stock] stock { $key }
    [price] price { $key }
    [campaign] campaign { $key }
   *[other] { $entity } { $key }
}
explain-row-change = { $key }: { $before } → { $after }
explain-row-value = { $key } → { $after }
explain-status = { $status ->
    [waiting_payment] waiting for payment
    [paid] paid
    [preparing] in preparation
    [ready_to_ship] ready to ship
    [shipped] shipped
    [delivered] delivered
    [cancelled] cancelled
    [completed] completed
    [payment_expired] payment expired
    [ready_for_pickup] ready for pick-up
    [picked_up] picked up
    [pickup_expired] pick-up expired
    [awaiting_campaign_conclusion] waiting for the campaign to end
    [awaiting_availability] waiting for availability
    [awaiting_restock] waiting for restock
    [available] available
    [restocked] restocked
    [production_started] production started
    [awaiting_materials] waiting for materials
    [production_in_progress] in production
    [production_finished] production finished
   *[other] { $status }
}
explain-shipment-status = { $status ->
    [pending] pending
    [processing] processing
    [ready_to_ship] ready to ship
    [in_transit] in transit
    [delivered] delivered
    [cancelled] cancelled
    [return_in_progress] return in progress
    [returned] returned
    [awaiting_return] waiting for return
    [failed] not delivered
    [error] with an error
   *[other] { $status }
}
explain-label-status = { $status ->
    [pending] pending
    [processing] being made
    [completed] ready
    [error] error
   *[other] { $status }
}
explain-state = { $state ->
    [new] new
    [waiting] waiting, goes on by itself
    [sending] under way
    [done] done
    [failed] failed
    [held] held
    [doubtful] in doubt
    [ignored] ignored
    [superseded] superseded
   *[other] { $state }
}
explain-effect = { $state ->
    [planned] planned
    [sent] sent, outcome not known yet
    [confirmed] confirmed
    [refuted] did not happen
    [doubtful] in doubt
   *[other] { $state }
}

# What proves a call.
explain-proof-answered = the marketplace answered
explain-proof-refused = the marketplace refused
explain-proof-called-off = called off before it left
explain-proof-it-never-left = it never left
explain-proof-its-evidence-cannot-be-read = its evidence cannot be read
explain-proof-neither-the-order-nor-its-timeline-shows-it = neither the order nor its timeline shows it
explain-proof-no-picture-is-new = no picture is new
explain-proof-one-picture-is-new = one picture is new
explain-proof-no-product-has-the-sku = no product has the SKU
explain-proof-the-sku-is-in-the-catalogue = the SKU is in the catalogue
explain-proof-the-campaign-does-not-list-all-of-them = the campaign does not list all of them
explain-proof-the-campaign-lists-them = the campaign lists them
explain-proof-the-labels-are-others = the labels are others
explain-proof-the-order-has-other-notes = the order has other notes
explain-proof-the-order-has-the-notes = the order has the notes
explain-proof-the-order-is-there = the order is there
explain-proof-the-order-s-timeline-shows-it = the order's timeline shows it
explain-proof-the-page-does-not-show-it = the page does not show it
explain-proof-the-page-shows-it = the page shows it
explain-proof-the-picture-is-not-the-product-s = the picture is not the product's
explain-proof-the-picture-is-the-product-s = the picture is the product's
explain-proof-the-product-does-not-show-it = the product does not show it
explain-proof-the-product-shows-it = the product shows it
explain-proof-the-product-shows-it-less-what-was-sold = the product shows it, less what was sold
explain-proof-the-quantity-has-moved-by-it = the quantity has moved by it
explain-proof-the-quantity-has-not-moved = the quantity has not moved
explain-unknown-entity = “{ $entity }” is nothing that is mirrored; did you mean “{ $alike }”?
    .next = choose from { $known }
