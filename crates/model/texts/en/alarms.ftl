# Alarms (contract 4). The message says what is wrong; `.next` is the next step.

alarm-service-stopped = The service is stopped: no sign of life for { $seconds }.
    .next = systemctl start espelho
alarm-service-never-started = The service was never started.
    .next = systemctl enable --now espelho
alarm-disk-full = The database's disk is full ({ $mebibytes } MiB free): nothing more can be written.
    .next = free space on the database's disk; espelho goes on by itself
alarm-database-busy = The database is locked by { $holder }.
    .next = end the transaction of { $holder }; espelho goes on by itself
alarm-database-busy-unnamed = The database is locked by another program.
    .next = end the program that keeps a transaction open in the database; espelho goes on by itself
alarm-database-unreachable = The database takes no writes: { $detail }.
    .next = check that the database server runs and takes writes; espelho goes on by itself
alarm-clock-behind = This machine's clock is { $span } behind the marketplace's.
    .next = timedatectl set-ntp true
alarm-clock-ahead = This machine's clock is { $span } ahead of the marketplace's.
    .next = timedatectl set-ntp true
alarm-marketplace-unreachable = The marketplace ({ $address }) has not answered for { $span }: { $detail }.
    .next = check this machine's network: curl -sS { $address }; espelho retries by itself
alarm-marketplace-errors = The marketplace has answered with errors for { $span }: { $detail }.
    .next = nothing to do here: espelho retries by itself; if it lasts, tell the marketplace's support
alarm-throttled = The marketplace has refused requests (429) for { $span }, although the limit is kept.
    .next = check whether another program uses the same credential; espelho retries by itself
alarm-credential-refused = The marketplace refuses the username or password of store { $store } ({ $place }).
    .next = correct { $place }; espelho notices by itself. To prove it: espelho doctor --login
alarm-foreign-login = Another program uses the credential of store { $store }: each login ends the other's token.
    .next = make a credential for each program in the seller portal, write the new one into the store's file and run: systemctl reload espelho
alarm-scope-missing = The credential of store { $store } lacks the ability { $scopes }.
    .next = add the ability to the credential in the seller portal; espelho notices by itself
alarm-not-held = The service does not work on store { $store }: { $why }
    .next = espelho doctor
alarm-token-expires = The token of store { $store } ends at { $end } and is not renewed yet.
    .next = espelho doctor --login
alarm-webhook-elsewhere = The webhook of store { $store } is registered at another address: { $registered }.
    .next = espelho webhook move { $store }
alarm-webhooks-unverified = { $count } webhooks in a row for store { $store } bear an unknown signature.
    .next = give webhook.secret_file; or delete the webhook in the seller portal: the next login makes another
alarm-webhooks-missing = The webhooks of store { $store } do not arrive: { $missed ->
        [one] 1 change was found
       *[other] { $missed } changes were found
    } of which { $address } was not told.
    .next = check that { $address } reaches this service: espelho doctor
alarm-unknown-store = { $count ->
        [one] 1 row of the ERP is
       *[other] { $count } rows of the ERP are
    } for a store that is not configured: { $words }
    .next = correct the column store; espelho errors --code unknown_store
alarm-failed = { $count ->
        [one] 1 row
       *[other] { $count } rows
    } of store { $store } failed: { $words } ({ $code })
    .next = espelho errors --store { $store } --code { $code }
alarm-noted = { $count ->
        [one] 1 row
       *[other] { $count } rows
    } of store { $store } done with a remark: { $words } ({ $code })
    .next = espelho errors --store { $store } --code { $code }
alarm-held = { $count ->
        [one] 1 row is
       *[other] { $count } rows are
    } held by a guard in store { $store }: { $words }
    .next = espelho held; to let it pass: espelho release { $row } --store { $store }
alarm-doubtful = { $count ->
        [one] 1 request
       *[other] { $count } requests
    } of store { $store } without proof of the outcome: { $words }
    .next = look in the seller portal and decide: espelho retry { $row } --store { $store } or espelho ignore { $row } --store { $store }
alarm-waiting = { $count ->
        [one] 1 row has
       *[other] { $count } rows have
    } been waiting for over an hour in store { $store }: { $words }
    .next = espelho explain { $row } --store { $store }
alarm-late-inbox = { $count ->
        [one] 1 webhook waits
       *[other] { $count } webhooks wait
    } in store { $store }, the oldest for { $span }.
    .next = espelho status --store { $store }
alarm-late-rows = { $count ->
        [one] 1 row of the ERP waits
       *[other] { $count } rows of the ERP wait
    } for a turn in store { $store }, the oldest for { $span }.
    .next = espelho plan --store { $store }
alarm-late-sweep = A sweep of store { $store } is late: { $sweep }, without a result for { $span }.
    .next = espelho status --store { $store }
alarm-late-complete = Store { $store } has had no complete reconciliation for { $span }.
    .next = espelho --resync --store { $store }
alarm-run-failed = The last reconciliation of store { $store } did not go well: { $why }
    .next = espelho --resync --store { $store }
alarm-deadline-near = { $count ->
        [one] 1 deadline ends
       *[other] { $count } deadlines end
    } within 24 hours in store { $store } ({ $kind }); the first, { $key }, at { $at }.
    .next = espelho explain { $key } --store { $store }
alarm-deadline-past = { $count ->
        [one] 1 deadline is
       *[other] { $count } deadlines are
    } past in store { $store } ({ $kind }), and { $near } end within 24 hours; the first, { $key }, at { $at }.
    .next = espelho explain { $key } --store { $store }

# What has no proof yet.
unproved-database = No write to the database was confirmed lately.
unproved-mirror = The first complete reading of store { $store } has not ended yet.
unproved-marketplace = The marketplace has not answered lately for store { $store }.
unproved-owner = Nobody works on store { $store } yet.

# Deadlines, as in v_deadlines.kind.
word-deadline-ship-by = dispatch
word-deadline-invoice-by = invoice

# Words of a row that was written before words had codes, or that the marketplace said.
raw = { $error }
    .next = { $hint }
