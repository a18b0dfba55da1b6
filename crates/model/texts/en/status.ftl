# `espelho status` and the page.

status-ok = all is well
status-unknown = no recent proof that everything works
status-not-alive = no healthy service answers on { $address }: { $cause }
status-token-refused = refused
status-problems = { $count ->
    [one] 1 problem
   *[other] { $count } problems
}
status-warnings = { $count ->
    [one] 1 warning
   *[other] { $count } warnings
}
status-running = running for { $span }
status-stopped = service stopped
status-other-installation = The espelho of another installation answers on { $address }, with another database.
    .next = write another address into http.listen of espelho.toml; then: sudo systemctl start espelho
status-first-reading = { $store }, first reading, { $resource }: { $progress }
status-proof-marketplace = marketplace answered { $span } ago
status-proof-database = database took a write { $span } ago
status-proof-webhook = webhook { $span } ago
status-no-proof = no recent proof
status-next = next step: { $step }
status-since = since { $time }
status-more-alarms = … and { $count } more (espelho status --json)
status-more-stores = … and { $count } more stores (--store KEY, --json)
status-never = never
status-ago = { $span } ago
status-stores = Stores
status-store = Store
status-state = State
status-state-ok = ok
status-state-failing = failing
status-state-warning = warning
status-state-unknown = no proof
status-last-run = Last reconciliation
status-run-figures = { $seen } seen, { $changed } changed, { $failed } failed
status-lag = Read
status-inbox = Webhooks
status-token = Token
status-budget = Budget
status-waiting-requests = Queue
status-queue-rows = rows of the ERP { $count }
status-queue-long = { $count ->
    [one] 1 row of the ERP has waited for { $span }
   *[other] { $count } rows of the ERP wait, the oldest for { $span }
}
    .next = espelho plan
status-data = Data
status-here = Here
status-counted = Counted: here / there
status-counted-at = { $span } ago
status-not-counted = not yet counted
status-read = Read
status-audit = Audit: differ
status-audit-cell = { $differing } of { $compared }, { $span } ago
status-errors = Errors
status-erp = What the ERP asks for
status-table = Table
status-open = Open
status-oldest = Oldest
status-failed = Failed
status-held = Held
status-doubtful = In doubt
status-step = Next step
status-budget-title = Request budget
status-budget-line = { $held } of { $per_minute } a minute in use; { $free } free
status-sweeps = Sweeps
status-sweep = Sweep
status-every = Every
status-per-minute = Requests/min
status-next-in = Next in
status-failure = Failure
status-rarer = less often
status-total = Total
status-webhook-line = Last webhook: { $heard }. Last test received: { $test }.
status-tables = Tables
status-live = Live
status-rows-counted = Rows counted { $span } ago, except those of a newer comparison.
status-gone = Gone
status-changed = Changed
status-process = { $program } (process { $id } on { $machine })
status-holder-held = held by { $owner } for { $span }
status-holder-free = free; last held by { $owner }, { $span } ago
status-holder-unknown = last held by { $owner }, { $span } ago
status-unknown-store = There is no store { $store }.
status-all-stores = All stores
status-refresh = Refresh
status-as-of = As of { $time }
status-page-title-ok = ✓ espelho: all is well
status-page-title-failing = ✗ espelho: { $count } failing
status-page-title-unknown = – espelho: no proof that all is well
status-local-time = { $zone } time
status-more-rows = and { $count } more

# Beside a configuration with a mistake
status-beside-mistakes = The service at { $address } answers, and goes on with the configuration that it read before this mistake:
status-none-beside-mistakes = No service of this installation answers at { $address }; one that runs at another address goes on with the configuration that it read before this mistake.
