# espelho get order: a mirrored order for people.

get-unknown = unknown
get-unknown-key = unknown
get-none = none on record
get-amounts = total { $total }: products { $products }, shipping { $shipping }, discounts { $discounts }
get-payment = payment: { $method }, { $status }
get-kind = workflow { $workflow }, channel { $channel }, delivery { $delivery }
get-times = placed at { $created }, changed at { $updated }
get-time-payment-expires-at = to be paid until { $at }
get-time-release-at = released at { $at }
get-time-invoice-by = to be invoiced until { $at }
get-time-pick-by = to be picked until { $at }
get-time-ship-by = to be dispatched until { $at }
get-time-picked-up-at = picked up at { $at }
get-lines = Lines
get-line = { $quantity } × { $sku } { $name }: { $each } each, { $sum } together
get-shipments = Shipments
get-shipment = { $shipment }; carrier { $carrier }; labels ready: { $ready } of { $of }
get-invoices = Fiscal documents
get-invoice = { $invoice }, issued at { $issued }, access key { $key }
get-invoice-current = { $invoice }, issued at { $issued }, access key { $key }: the one that counts
get-invoice-replaced = { $invoice }, issued at { $issued }, access key { $key }; replaced at { $at }
get-json = Everything, with the buyer's data and the object as received: --json
get-unknown-order = There is no order { $number } in the mirror.
    .next = Check the number and the store (--store). What else is known of it: espelho explain order { $number }
get-several = Several stores have an order { $number }: { $stores }.
    .next = Name one with --store KEY.
