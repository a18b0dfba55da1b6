# Alarms (contract 4). The message says what is wrong; `.next` is the next step.

alarm-service-stopped = The service is stopped: no sign of life for { $seconds }.
    .next = sudo systemctl enable --now espelho espelho.socket; journalctl -u espelho -n 20
alarm-service-never-started = The service was never started.
    .next = sudo systemctl enable --now espelho espelho.socket
alarm-disk-full = { $mebibytes ->
        [0] The database's disk is full: nothing more can be written.
       *[other] The database's disk is nearly full: { $mebibytes } MiB are left.
    }
    .next = free space { $folder ->
        [none] on the database's disk
       *[other] on the disk of { $folder } (df -h { $folder })
    }; espelho goes on by itself
alarm-database-busy = The database is locked by { $holder }.
    .next = end the transaction of { $holder }{ $process ->
        [none] {""}
       *[other] {" "}(if you do not know how: sudo kill { $process })
    }; espelho goes on by itself
alarm-database-busy-session = The database is locked: session { $session } of user { $user } (program: { $application }) keeps table { $table } in an open transaction.
    .next = end the transaction in that program or, on PostgreSQL, the session: SELECT pg_terminate_backend({ $session }); the mirror goes on by itself
alarm-database-busy-unnamed = The database is locked by another program.
    .next = sudo espelho doctor names the program; end its transaction, and espelho goes on by itself
alarm-database-unreachable = The database takes no writes: { $detail }.
    .next = see the cause with espelho doctor (does the server run? may it be written to?); espelho goes on by itself
alarm-database-refuses = The database cannot be used: { $detail }.
    .next = { $step }; espelho goes on by itself
alarm-database-read-only = The database is read-only: { $detail }. Nothing more is read from the marketplace until it takes writes again; deliveries are refused, and the marketplace repeats them.
    .next = make it writable: { $file ->
        [none] see default_transaction_read_only and the server's role
       *[other] the files and their folder must belong to the service's user (sudo chown espelho:espelho { $file }*), and the disk must be writable (mount, dmesg)
    }; espelho goes on by itself
alarm-database-replaced = { $file } was deleted or replaced while the service had it open. The service saves what it has and ends.
    .next = journalctl -u espelho names the copy: put it back with espelho restore, then start the service
alarm-schema-changed = The database is not as espelho made it: { $count } objects are missing, disabled or others ({ $objects }). Writes of the ERP may go unseen.
    .next = restart the service, which makes them again; a missing table comes back by its old name or from a backup only (espelho restore)
alarm-clock-behind = This machine's clock is { $span } behind the marketplace's.
    .next = sudo timedatectl set-ntp true
alarm-clock-ahead = This machine's clock is { $span } ahead of the marketplace's.
    .next = sudo timedatectl set-ntp true
alarm-configuration-refused = The new configuration was refused, and the service goes on with the one before: { $mistake }{ $more ->
        [0] {""}
        [one] {" "}(and 1 more mistake)
       *[other] {" "}(and { $more } more mistakes)
    }
    .next = { $found_in ->
        [database] { $step } Whether it is enough: espelho doctor
       *[files] correct the file and check it: espelho check; then: sudo espelho reload
    }
alarm-configuration-unusable = The configuration was changed and has a mistake; the service works with the one before, and could not be started again: { $mistake }{ $more ->
        [0] {""}
        [one] {" "}(and 1 more mistake)
       *[other] {" "}(and { $more } more mistakes)
    }
    .next = correct the file and check it: espelho check; then: sudo espelho reload
alarm-marketplace-unreachable = The marketplace ({ $address }) has not answered for { $span }: { $detail }.
    .next = { $fault ->
        [own] it is an address of this machine: start the server there (a sandbox: espelho sandbox --listen { $listen }), or correct base_url in the store's file, then: sudo espelho reload. espelho retries by itself
        [refused] it is not this network: the machine at { $address } refuses the connection, so its server is down, or base_url has another port. espelho retries by itself; if it lasts, tell the marketplace's support
        [name] see whether another site opens on this machine (curl -sSI https://example.com): if not, the trouble is the internet or DNS here; if so, check base_url in the store's file. espelho retries by itself
        [trust] it is not this network: { $address } answers, but without TLS that can be trusted. Check this machine's time (timedatectl), and whether a proxy or antivirus opens TLS; if not, tell the marketplace's support. espelho retries by itself
       *[network] see whether another site opens on this machine (curl -sSI https://example.com): if not, the trouble is the internet here; if so, it is the marketplace: if it lasts, tell its support. espelho retries by itself
    }
alarm-marketplace-errors = The marketplace has answered with errors for { $span }: { $detail }.
    .next = nothing to do here: espelho retries by itself; if it lasts, tell the marketplace's support
alarm-marketplace-routes-fail = Some calls to the marketplace have failed for { $span } ({ $routes }): { $detail }. Other calls work.
    .next = nothing to do here: espelho retries by itself, and what needs these calls waits; if it lasts, tell the marketplace's support
alarm-throttled = The marketplace has refused requests (429) for { $span }, although the limit is kept.
    .next = check whether another program uses the same credential; espelho retries by itself
alarm-unreadable-values = { $count ->
        [one] 1 value of the marketplace cannot be read
       *[other] { $count } values of the marketplace cannot be read
    } in store { $store }: { $fields }. The column of each is empty (NULL); raw has the text that was received.
    .next = tell whoever maintains the mirror, with the names of the fields; nothing is lost: until then read the value in raw
alarm-mirror-differs = The mirror of store { $store } differs from the marketplace ({ $resource }): { $count } of the { $compared } that the audit of { $at } compared, and the mirror has not corrected them since.
    .next = see which rows: espelho audit --store { $store }; read them again: espelho --resync --deep --only { $only } --store { $store }
alarm-credential-refused = The marketplace refuses the username or password of store { $store } ({ $place }); espelho tries again by itself{ $token ->
        [works] , and works on with the token that it has.
       *[gone] .
    }
    .next = correct the password in { $place }, and espelho logs in with it at once; for the username, or a password in stores/{ $store }.toml: sudo espelho reload. If they are right, try now: espelho doctor --login
alarm-login-refused = The marketplace refuses the login of store { $store } (422){ $fields ->
        [none] {""}
       *[other] {" "}for { $fields }
    }; espelho tries again by itself{ $token ->
        [works] {" "}and goes on with the token that it has.
       *[gone] .
    }
    .next = correct the field that it refuses in stores/{ $store }.toml: username or password where they are missing; webhook.url is webhook.public_url, an https address that the internet reaches; then: sudo espelho reload
alarm-password-unreadable = Store { $store }: { $why }. The service works on with the password that it read before, and could not be started again.
    .next = write the password into { $file } (one line), then: sudo chown espelho { $file } && sudo chmod 600 { $file }. espelho notices by itself
alarm-foreign-login = Another program uses the credential of store { $store }: each login ends the other's token.
    .next = find the program that logs in with this username: another ERP, a hub, an old installation. End it, or give it a credential of its own (seller portal); then: espelho doctor --login. A new credential for this store goes into stores/{ $store }.toml, then: sudo espelho reload. If you do not find the program, change the password in the portal and in the store's file
alarm-scope-missing = The marketplace refuses requests of store { $store } for lack of permissions (403): { $scopes }.
    .next = add them to the credential in the seller portal; espelho notices by itself{ $rows ->
        [yes] , and sends the refused rows again after: { $retry }
       *[no] {""}
    }
alarm-not-held = The service does not work on store { $store }: { $why }
    .next = espelho doctor
alarm-not-loaded = { $count ->
        [one] The running service does not know store { $stores }
       *[other] The running service does not know { $count } stores of the configuration ({ $stores })
    }: it has the configuration from before, and nobody works on what is new.
    .next = sudo espelho reload
alarm-token-expires = The token of store { $store } ends at { $end } and is not renewed yet.
    .next = espelho doctor --login
alarm-webhook-elsewhere = The webhook of store { $store } is registered at { $registered }; the configuration says { $configured }.
    .next = if { $configured } is a mistake, write { $registered } into webhook.public_url in stores/{ $store }.toml, then: sudo espelho reload. If another installation receives at { $registered }, make a credential for this one. If the webhook shall come to { $configured }: espelho webhook move { $store }
alarm-webhooks-unverified = { $count } webhooks in a row for store { $store } bear an unknown signature.
    .next = run espelho webhook test --wait=20 --store { $store }. If the test arrives, strangers post to this address: their deliveries are refused, and nothing needs to be done. If it does not, compare the webhook's secret in the seller portal with that of webhook.secret_file; without such a file, delete the webhook in the portal and restart the service: it makes the webhook anew
alarm-webhooks-missing = The webhooks of store { $store } do not arrive: { $missed ->
        [0] the test delivery did not reach { $address }.
        [1] 1 change was found of which { $address } was not told.
       *[other] { $missed } changes were found of which { $address } was not told.
    }
    .next = what comes to { $address } must reach this service: compare webhook.public_url in stores/{ $store }.toml (if you change it: espelho webhook move { $store }), its proxy and webhooks.listen in espelho.toml (if you change it: sudo espelho reload), then: espelho webhook test --wait=20 --store { $store }
alarm-webhooks-some-missing = Some webhooks of store { $store } do not arrive: of { $all } orders that changed in the last 15 minutes, { $unreported ->
        [one] 1 was found without one
       *[other] { $unreported } were found without one
    }. Nothing is lost: the sweeps find them, only later.
    .next = look at the webhook's delivery history in the seller portal (answers other than 2xx, time-outs) and compare it with the proxy before webhooks.listen
alarm-unknown-store = { $count ->
        [one] 1 row of the ERP is for a store that is not configured: { $words }
       *[other] { $count } rows of the ERP are for stores that are not configured; one of them: { $words }
    }
    .next = look at the rows and correct the column store: { $see_all }
alarm-failed = { $count ->
        [one] 1 row of store { $store } failed: { $words }
       *[other] { $count } rows of store { $store } failed; one of them: { $words }
    } ({ $code })
    .next = { $told ->
        [no] { $see_all }
       *[yes] { $step } (details: { $see_all })
    }{ $ignore ->
        [none] {""}
       *[other] {" "}(to be rid of it for good: { $ignore })
    }
alarm-noted = { $count ->
        [one] 1 row of store { $store } done with a remark: { $words }
       *[other] { $count } rows of store { $store } done with a remark; one of them: { $words }
    } ({ $code })
    .next = { $told ->
        [no] { $see_all }
       *[yes] { $step } (details: { $see_all })
    }
alarm-held = { $count ->
        [one] 1 row is held by a guard in store { $store }: { $words }
       *[other] { $count } rows are held by a guard in store { $store }; one of them: { $words }
    }
    .next = { $count ->
        [one] if that is meant: { $release_one }; if it is not, correct what the ERP wrote, or give it up: { $ignore_one }
       *[other] see all: { $see_all }; to let one pass: { $release_one }; to let all pass: { $release_all }; to give all up: { $ignore_all }
    }
alarm-held-zero = { $count ->
        [one] 1 row is held by a guard in store { $store }: { $words }
       *[other] { $count } rows are held by a guard in store { $store }; one of them: { $words }
    }
    .next = write a price above zero; no release lets it pass. To give a row up: { $ignore_one }
alarm-doubtful = { $count ->
        [one] 1 request of store { $store } without proof of the outcome: { $words }
       *[other] { $count } requests of store { $store } without proof of the outcome; one of them: { $words }
    }
    .next = { $told ->
        [no] look what came of it: { $see_one }; if it had no effect: { $retry_one }; if it had: { $ignore_one }
       *[yes] { $step }
    }{ $count ->
        [one] {""}
       *[other] ; the others have their own steps: { $see_all }
    }
alarm-waiting = { $count ->
        [one] 1 row has been waiting for over an hour in store { $store }: { $words }
       *[other] { $count } rows have been waiting for over an hour in store { $store }; one of them: { $words }
    }
    .next = { $see_one }
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
    .next = espelho doctor says whether something prevents it; if not, it waits for its turn within the request limit, and ends by itself
alarm-late-complete = Store { $store } has had no complete reconciliation for { $span }.
    .next = espelho --resync --store { $store }
alarm-run-failed = The last reconciliation of store { $store } stopped: { $why }
    .next = { $step }
alarm-deadline-near = { $count ->
        [one] 1 deadline ends within 24 hours
       *[other] { $count } deadlines end within 24 hours
    } in store { $store } ({ $kind }); the first is order { $key }'s, at { $at }.
    .next = see to order { $key } first; its story: espelho explain { $key } --store { $store }
alarm-deadline-past = { $count ->
        [one] 1 deadline is past
       *[other] { $count } deadlines are past
    } in store { $store } ({ $kind }){ $near ->
        [0] {""}
        [one] , and 1 ends within 24 hours
       *[other] , and { $near } end within 24 hours
    }; the oldest is order { $key }'s, at { $at }.
    .next = see to order { $key } first; its story: espelho explain { $key } --store { $store }

# What has no proof yet.
unproved-database = No write to the database was confirmed in the last 3 minutes.
unproved-database-stalls = A write to the database is waiting: { $detail }. If this lasts, an alarm names the cause and the next step.
unproved-mirror = The first complete reading of store { $store } has not ended yet.
unproved-marketplace = No answer of the marketplace for store { $store } in the last 3 minutes.
unproved-marketplace-fails = The last calls to the marketplace for store { $store } failed: { $detail }. If it lasts, an alarm will have the next step.
unproved-marketplace-yet = No answer of the marketplace for store { $store } since the service was started.
unproved-password = No login has shown yet what the password of store { $store } is worth. espelho tries by itself; now: espelho doctor --login
unproved-owner = Nobody works on store { $store } yet.
unproved-webhooks = It is not known yet whether the webhooks of store { $store } arrive: no delivery has shown it yet, and espelho requests a test delivery by itself. If it takes long: espelho webhook test --wait=20 --store { $store }
unproved-count = The marketplace counts { $remote } records in store { $store } ({ $resource }), and the mirror has { $local }, since { $since }: it is not known whether any is missing or the count is wrong. The next complete reconciliation looks for all; espelho --resync --store { $store } does so now.

# Deadlines, as in v_deadlines.kind.
word-deadline-ship-by = dispatch
word-deadline-invoice-by = invoice

# Words of a row that was written before words had codes, or that the marketplace said.
# A row of which no foreign words leave the machine.
alarm-row = { $row }: { $words }
raw = { $error }
    .next = { $hint }
alarm-fiscal-gate = { $count } orders of { $store } wait for an invoice (NF-e) or content declaration; a usual day brings { $usual } orders.
    .next = Look whether the ERP issues invoices: SELECT * FROM v_deadlines WHERE kind = 'invoice_by' ORDER BY at
alarm-paused = { $store } is paused ({ $scope }) until { $until }, by { $by }. What waits is made up afterwards.
    .next = espelho resume --store { $store }
alarm-paused-stores = { $count } stores are paused ({ $scope }) until { $until }, by { $by }. What waits is made up afterwards.
    .next = espelho resume
alarm-notice-failed = Messages about alarms do not go out by { $channel }: { $detail }.
    .next = correct [notices.{ $channel }] in espelho.toml or what receives them, then: espelho notice test --channel { $channel }
alarm-backup-failed = { $part ->
        [verification] The backup could not be proved (espelho backup verify): { $cause }
       *[copy] The last backup failed: { $cause }
    }
    .next = { $step } (then: sudo systemctl start espelho-backup)
alarm-backup-late = { $part ->
        [verification] No proof of a backup (espelho backup verify) is on record since { $at }: the next proof did not come, or never ended.
       *[copy] The last backup on record is of { $at }: the next one did not come, or never ended.
    }
    .next = sudo systemctl enable --now espelho-backup.timer; then: sudo systemctl start espelho-backup
alarm-backup-never = { $part ->
        [verification] No proof of a backup (espelho backup verify) is on record, although one was begun.
       *[copy] No complete backup is on record, although one was begun.
    }
    .next = { alarm-backup-late.next }

# From one machine, or another, on the same database.
alarm-of-machine = Machine { $machine }: { $said }
    .next = { $next }
alarm-in-brief = Machine { $machine }: { $what } ({ $count }).
    .next = the whole alarm is in the language in which it was recorded: espelho status --lang { $language }
alarm-in-brief-of-store = Machine { $machine }: { $what }, store { $store } ({ $count }).
    .next = the whole alarm is in the language in which it was recorded: espelho status --lang { $language }
