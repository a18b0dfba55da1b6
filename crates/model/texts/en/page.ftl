# The pages of espelho.

page-menu = Pages
page-menu-now = Now
page-skip = Skip to content
page-copy = Copy
page-copied = Copied
page-lost = The service does not answer: what is below is old.
page-unknown-since = State unknown since
page-not-found = Not found
page-unknown-store-next = Stores are the files stores/NAME.toml of the configuration. See the ones that exist:
page-title-warnings = ! espelho: { $count ->
    [one] 1 warning
   *[other] { $count } warnings
}
page-no-status = without a status
page-none = none
page-and-more = and { $count } more

# The four numbers.
page-numbers = Today in numbers
page-dispatch = Dispatch today
page-late = { $count ->
    [one] 1 is late:
   *[other] { $count } are late:
}
page-none-late = none is late
page-paid = paid, not in preparation yet:
page-invoices = Waiting for NF-e
page-invoices-note = in preparation, without an invoice
page-to-shop = ERP → shop
page-oldest = to be sent; the oldest for { $span }
page-nothing-open = nothing to be sent
page-not-done = { $count } not done
page-on-hold = { $count } on hold
page-in-doubt = { $count } in doubt
page-to-erp = Shop → ERP
page-not-taken = orders that the ERP has not taken
page-webhooks-open = webhooks to be handled
page-takes-none = the ERP notes no orders in erp_orders
page-backlog = { $count ->
    [0] no webhook in the queue
    [one] 1 webhook in the queue
   *[other] { $count } webhooks in the queue
}

# To be done now.
page-todo = To do now
page-mend-retry = Try again
page-mend-ignore = Give up
page-mend-release = Release
page-mend-happened = It happened: end it
page-mend-look = See each one
page-mend-look-one = See the row
page-mend-bring-back = Bring back
page-mend-bring-back-all = Bring all back
page-mend-webhook-test = To test the webhook:
page-mend-resume = Resume
page-mend-login = To test the password:
page-mend-move = To move the webhook here:
page-mend-doctor = To diagnose:
page-mend-resync = To reconcile now:
page-mend-store = See the store
page-mend-status = To see the state:
page-mend-start = To start the service:
page-mend-check = To see every mistake:
page-mend-reload = To read it again:
page-mend-clock = To set the clock:
page-mend-backup = To back up now:

page-alarm-service-stopped = service stopped
page-alarm-disk-full = disk full
page-alarm-database-busy = database locked
page-alarm-database-unreachable = database is not available
page-alarm-database-read-only = database is read-only
page-alarm-database-replaced = database file was replaced
page-alarm-clock-wrong = wrong clock
page-alarm-configuration-refused = new configuration refused
page-alarm-marketplace-unreachable = marketplace does not answer
page-alarm-marketplace-errors = marketplace answers with errors
page-alarm-throttled = marketplace refuses requests
page-alarm-unreadable-values = values that cannot be read
page-alarm-mirror-differs = differences from the marketplace
page-alarm-credential-refused = login refused
page-alarm-foreign-login = another program uses the credential
page-alarm-scope-missing = the credential lacks abilities
page-alarm-webhooks-missing = webhooks are missing
page-alarm-webhook-elsewhere = webhook at another address
page-alarm-webhooks-unverified = webhooks with an unknown signature
page-alarm-not-held = nobody works on the store
page-alarm-run-failed = reconciliation stopped
page-alarm-password-unreadable = trouble with the password file
page-alarm-token-expires = token ends soon
page-alarm-unknown-store = unknown store
page-alarm-failed = not done
page-alarm-held = held by a guard
page-alarm-doubtful = without proof of the outcome
page-alarm-waiting = waiting for more than an hour
page-alarm-late = behind its promise
page-alarm-deadline = deadline past or near
page-alarm-fiscal-gate = waiting for NF-e
page-alarm-paused = paused
page-alarm-notice-failed = messages about alarms do not go out
page-alarm-backup-failed = backup failed or overdue
page-alarm-schema-changed = database schema changed

# The last hour and the charts.
page-hour = The last 60 minutes
page-axis-now = now
page-key-proved = in step
page-key-warned = with a warning
page-key-failed = with a failure
page-key-unproved = without proof
page-key-not-running = not running
page-beats = { $store }: of the last 60 minutes, { $proved } ok, { $warned } with a warning, { $broken } with a failure, { $unproved } without proof
page-fact-read = read { $span } ago
page-fact-orders = { $count ->
    [one] 1 order
   *[other] { $count } orders
}
page-fact-open = { $count ->
    [one] 1 row of the ERP to be sent
   *[other] { $count } rows of the ERP to be sent
}
page-statuses = Open orders
page-deadlines = Deadlines of the next 24 hours
page-deadlines-said = Dispatch: { $ship_past } past and { $ship } within 24 hours. Invoice: { $invoice_past } past and { $invoice } within 24 hours.
page-past = past
page-lanes = Requests to the marketplace
page-behind = Behind the scenes

# The lists and the page of an order.
page-orders = Orders
page-errors = Errors
page-queue = Queue
page-webhooks = Webhooks
page-search = Search
page-search-hint = Order, SKU, product, NF-e or command
page-search-short = Order, SKU, NF-e or command
page-search-empty = Write the number of an order, a SKU, a part of a product's name, the number of an NF-e, of a command, of a shipment or of the ERP.
page-search-none-yet = Nothing that has been read so far has the name { $asked }: { $reading }.
page-search-none = Nothing has the name { $asked }: check the number, the SKU or the product's name.
page-no-orders = no order in this list
page-no-webhooks = no webhook is kept
page-no-rows-shown = no row matches this filter
page-no-webhooks-shown = no webhook matches this filter
page-list-open = Open
page-list-not-taken = Not taken by the ERP
page-first-rows = Only the first { $count }; the tables have all.
page-order = Order
page-status = Status
page-total = Total
page-placed = Placed
page-ship-by = Dispatch by
page-is-late = past
page-causes = By cause
page-waiting = Waiting (goes on by itself)
page-count = How many
page-cause = Cause
page-names = Which
page-since = Since
page-what = What
page-error = Reason and next step
page-all = All
page-delivery = Delivery
page-event = Event
page-arrived = Arrived
page-handled = Handled
page-delivery-open = in the queue
page-delivery-handled = handled
page-label = label { $label }
page-labels = Labels
page-void = void
page-facts = Facts
page-timeline = Timeline
page-support = Copy for support
page-support-note = Instants, states and codes; nothing about people.
page-missing = not found at the marketplace since { $since }, confirmed { $count } times
page-unknown-thing = espelho does not know { $asked }.
page-unknown-thing-next = Check the number and the store; the search looks in all of them.
page-several-stores = Order { $number } exists in more than one store.
page-several-stores-next = Choose the store:
page-not-found-next = This address leads nowhere. Begin at:
page-nul = The address has a character that no record has (%00).
page-nul-next = Type the name again, without what was copied around it.
page-unavailable = The database does not answer now.
page-unavailable-next = Try again in a few seconds; the first page says what is wrong.

# The acts of operators.
page-acts = Acts
page-no-acts = no act yet
page-login = Log in
page-logout = Log out
page-token = Operator's token
page-token-where = The token is in the file of [http] operators_file (espelho.toml), in a line NAME:operator:TOKEN. To make one: openssl rand -hex 16, and a new line in that file; it is read at each login.
page-login-wrong = Unknown token.
page-login-wait = Too many tries: wait a minute.
page-mend-replay = Handle again
page-mend-replay-shown = { $count ->
    [one] Handle 1 handled webhook again
   *[other] Handle { $count } handled webhooks again
}
page-mend-replay-many = Handle the handled webhooks again, more than { $count }
page-mend-pause = Pause
page-act-replay = { $count ->
    [one] Handle 1 webhook again?
   *[other] Handle { $count } webhooks again?
}
page-act-pause = { $count ->
    [one] Pause 1 store
   *[other] Pause { $count } stores
} ({ $scope }) for { $minutes } minutes? Nothing is lost: what waits is caught up with later.
page-act-resume = { $count ->
    [one] End 1 pause?
   *[other] End { $count } pauses?
}
page-act-confirm = Confirm
page-act-cancel = Back
page-act-again = To act here, log in with your operator's token: the question comes back then.
page-act-login = To act here, log in with your operator's token. The command line below does the same.
page-act-viewer = { $name } may only look. The command line below does the same, for whoever has access to the machine.
page-act-off = Acting on the page is off. To switch it on: in espelho.toml, [http] operators_file = "operators"; in that file (chmod 600) a line NAME:operator:TOKEN for each person; then sudo espelho reload. The command line does the same.
page-act-form = This form is of another session: go back to the page and try again.
page-act-not-allowed = This person may not act: see the file of operators.
page-act-nothing = Nothing is left to be done: what this was about is settled, or has changed meanwhile.
page-act-else = Or end it
page-act-done = { $count ->
    [0] Nothing has changed.
    [one] Done: 1 row.
   *[other] Done: { $count } rows.
}
page-when = When
page-who = Who
page-before = Before
page-after = After
page-metrics = metrics
page-of-stores = ({ $count ->
    [1] 1 store
   *[other] { $count } stores
})
page-cut-short = cut short
page-act = Act
page-act-retry = { $count ->
    [one] Try 1 row again?
   *[other] Try { $count } rows again?
}
page-act-release = { $count ->
    [one] Release 1 row, once?
   *[other] Release { $count } rows, once?
}
page-act-ignore = { $count ->
    [one] Give up 1 row?
   *[other] Give up { $count } rows?
}
page-act-resend = { $count ->
    [one] Send 1 row again, because you have checked that it had no effect?
   *[other] Send { $count } rows again, because you have checked that they had no effect?
}
page-act-happened = { $count ->
    [one] End 1 row, because you have checked that it had its effect? Nothing more is sent; the command line calls this ignore.
   *[other] End { $count } rows, because you have checked that they had their effect? Nothing more is sent; the command line calls this ignore.
}
page-act-bring-back = { $count ->
    [one] Bring back 1 ignored row?
   *[other] Bring back { $count } ignored rows?
}
page-after-paused = paused until { $until }
page-after-happened = settled: it happened
page-after-resumed = pause ended
page-after-now = now: { $states }
page-after-deleted = row deleted
page-to-decide = To decide

# A product's price and stock, as they are mirrored.
page-product-prices = Prices
page-product-stock = Stock
page-product-price = price { $price } { $unit }
page-for-sale = for sale
page-not-for-sale = not for sale
page-product-tier = from { $from } on: { $price }
page-product-level = { $location }: { $quantity } in stock, { $reserved } reserved, { $available } available

# Nothing is “none” before the first complete reading.
page-unread = the first complete reading has not ended yet
page-unread-begins = the first reading begins
page-unread-so-far = the first reading is under way: { $read }
page-read = { $seen } { $what }
page-read-of = { $seen } of { $total } { $what }
