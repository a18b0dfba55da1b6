# What became of a wish that the command line wrote (espelho stock, price, orders, labels, campaigns, import).

intents-at = { $sku } @ { $location }
intents-sku = { $sku }
intents-order = order { $order }
intents-campaign = campaign { $campaign }
intents-file = { $rows ->
    [one] file of { $rows } line
   *[other] file of { $rows } lines
}

intents-level-done = { $sku } @ { $location }: { $before } → { $after }
intents-level-is = { $sku } @ { $location }: { $after }
intents-movement-done = { $sku } @ { $location }: { $sign }{ $delta }
intents-price-done = { $from ->
    [1] { $sku }: { $before } → { $after }
   *[other] { $sku } from { $from } on: { $before } → { $after }
}
intents-price-is = { $from ->
    [1] { $sku }: { $after }
   *[other] { $sku } from { $from } on: { $after }
}
intents-status-done = order { $order }: { $status }
intents-notes-done = order { $order }: notes written
intents-labels-done = order { $order }: labels ready
intents-campaign-done = { $listings ->
    [one] campaign { $campaign }: { $listings } listing takes part
   *[other] campaign { $campaign }: { $listings } listings take part
}
intents-test-delivery = test delivery
intents-test-delivery-done = the marketplace agreed to send a test delivery; that does not prove yet that it arrives
    .next = look at it on the page /webhooks, or with espelho doctor
intents-test-delivery-not-awaited = test delivery: request written, command { $command }; its arrival was not awaited
    .next = to learn later whether it arrived: espelho explain command { $command }. To wait for it: espelho webhook test --wait=20
intents-test-delivery-arrived = the test delivery arrived, with a valid signature
intents-test-delivery-refused = a delivery came, and its signature was refused: it is of an unknown secret
    .next = compare the webhook's secret in the seller portal with that of webhook.secret_file; without such a file, delete the webhook in the portal and restart the service: it makes the webhook anew. If the next test arrives, a stranger had posted
intents-test-delivery-missing = the marketplace accepted the request for a test delivery, but it has not arrived yet
    .next = espelho doctor shows the address and the receiver; if both are green, the history of the webhook's deliveries, in the seller portal, says what each attempt met (another address, a proxy, a firewall)
intents-rows-written = { $rows ->
    [one] { $rows } row written
   *[other] { $rows } rows written
}
intents-rows = { $rows ->
    [one] { $rows } row
   *[other] { $rows } rows
}: { $done } done, { $open } under way
intents-rows-refused = { $rows ->
    [one] { $rows } row
   *[other] { $rows } rows
}: { $done } done, { $open } under way, { $refused } not done
    .next = next step: espelho errors

intents-written = { $subject }: written
intents-command-written = { $subject }: written, command { $command }
intents-service-stopped = { $subject }: written; the service is stopped
    .next = sudo systemctl start espelho
intents-under-way = { $subject }: written; under way, goes on by itself
intents-delayed = { $told }. { $cause }
intents-waiting-invoice = { $subject }: waits for the NF-e; goes on by itself
intents-waiting = { $subject }: waits: { $reason }; goes on by itself
intents-failed = { $subject }: { $reason }
intents-held = { $subject }: held: { $reason }
intents-doubtful = { $subject }: in doubt: { $reason }
intents-ignored = { $subject }: ignored by somebody
intents-superseded = { $subject }: another row took its place
intents-next-step = next step: { $step }

# What is refused before it is written.
intents-unknown-sku = unknown SKU: { $sku }
    .next = nothing was written; look the SKU up at the marketplace
intents-unknown-sku-similar = unknown SKU: { $sku }; similar: { $similar }
    .next = nothing was written; write the SKU as the store has it
intents-unknown-location = unknown location: { $location }
    .next = nothing was written; the store has: { $known }
intents-negative-quantity = stock cannot be { $quantity }
    .next = nothing was written; write 0 or more, or espelho stock adjust to take pieces away
intents-no-movement = a movement of 0 changes nothing
    .next = nothing was written; write how much comes (2) or goes (-2)
intents-half-a-unit = { $quantity } is not possible: the product is sold by { $unit }, whole
    .next = nothing was written; write a whole number
intents-negative-price = a price cannot be { $price }
    .next = nothing was written; write a price above 0
intents-no-min-quantity = the least quantity is 1 or more
    .next = nothing was written; correct --min-quantity
intents-unknown-status = no order can go to { $status }; the nearest is { $nearest }
    .next = nothing was written; statuses: { $known }
intents-unknown-format = there is no label in format { $format }; the nearest is { $nearest }
    .next = nothing was written; formats: { $known }
intents-no-number = { $text } is not a number
    .next = nothing was written; write 1990 or 1.99
intents-ambiguous = { $text } may be { $thousands } or { $decimals }
    .next = nothing was written; write { $plain } or { $exact }
intents-ambiguous-question = { $text }: [1] { $thousands } or [2] { $decimals }?
intents-no-json = --data is not JSON (line { $line }, column { $column })
    .next = nothing was written; write --data '{"{"}"tracking_code": "BR123"{"}"}'
intents-several-stores = there are several stores: { $known }
    .next = nothing was written; choose one with --store
intents-no-file = { $file } cannot be read: { $problem }
    .next = nothing was imported
intents-bad-lines = { $file }: { $lines }
    .next = nothing was imported; correct these lines and import it again

# Decisions: release, retry, ignore.
intents-decide-release = { $rows ->
    [one] Release { $rows } row, once? (y/n)
   *[other] Release { $rows } rows, once? (y/n)
}
intents-decide-more = { $rows ->
    [one] … and { $rows } more row
   *[other] … and { $rows } more rows
}
intents-decide-retry = { $rows ->
    [one] Try { $rows } row again? (y/n)
   *[other] Try { $rows } rows again? (y/n)
}
intents-decide-ignore = { $rows ->
    [one] Ignore { $rows } row? (y/n)
   *[other] Ignore { $rows } rows? (y/n)
}
intents-needs-yes = { $rows ->
    [one] { $rows } row; nothing was decided
   *[other] { $rows } rows; nothing was decided
}
    .next = confirm with --yes
intents-released = { $rows ->
    [one] { $rows } row released: it goes again, and the guard lets it pass once
   *[other] { $rows } rows released: they go again, and the guard lets each pass once
}
intents-retried = { $rows ->
    [one] { $rows } row will be tried again
   *[other] { $rows } rows will be tried again
}
intents-ignored-rows = { $rows ->
    [one] { $rows } row ignored
   *[other] { $rows } rows ignored
}; to bring back: { $back }
intents-ignored-group = { $rows ->
    [one] { $rows } row ignored
   *[other] { $rows } rows ignored
}; to bring back, with those that were ignored before: { $back }
intents-nothing-to-decide = nothing to decide
intents-nothing-held = nothing is held
intents-no-such-row = no row with this key is failed, held, in doubt or ignored
    .next = use ENTITY and KEY as in espelho errors --all
intents-in-the-queue = this row is in the queue ({ $state }) and goes by itself: there is nothing to decide
    .next = to take it out of the queue (what has left may still count): { $ignore }
intents-not-decidable = this row is “{ $state }”: there is nothing to decide about it
    .next = see its history: { $see }
intents-release-ignored = this row is ignored: a release does not undo that decision
    .next = if it has changed, bring the row back: { $back }; if the guard holds it again, it can be released
intents-release-ignored-by = this row was ignored by { $actor } on { $at }: a release does not undo that decision
    .next = if it has changed, bring the row back: { $back }; if the guard holds it again, it can be released

# espelho plan
intents-plan-nothing = { $store }: nothing to send; no row of the ERP waits
intents-plan-not-now = { $store }: nothing will be sent now
intents-plan-failed = { $rows ->
    [1] 1 row failed
   *[other] { $rows } rows failed
}: { $step }
intents-plan-doubtful = { $rows ->
    [1] 1 row is in doubt
   *[other] { $rows } rows are in doubt
}: { $step }
intents-plan-held = { $rows ->
    [1] 1 row is held by a guard
   *[other] { $rows } rows are held by a guard
}: { $step }
intents-plan-store = { $store }: { $rows ->
    [1] 1 row of the ERP waits
   *[other] { $rows } rows of the ERP wait
}; { $requests ->
    [0] no request will be made to the marketplace
    [1] 1 request to the marketplace, about { $seconds }
   *[other] { $requests } requests to the marketplace, about { $seconds }
}{ $kept ->
    [0] {""}
    [1] ; 1 row will not be sent, for the reason in parentheses
   *[other] ; { $kept } rows will not be sent, for the reasons in parentheses
}
intents-plan-waits = { $entity } { $key }: waits: { $reason }
intents-plan-progress = { $done } done, { $open } under way, { $waiting } waiting
intents-plan-ended = { $open } open, { $held } held, { $failed } failed, of what was planned
intents-retry-only = What was set aside can only be tried again.
    .next = espelho retry ENTITY KEY
