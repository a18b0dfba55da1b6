# espelho doctor. The message says what was seen; `.next` is the next step.

doctor-state-green = GREEN
doctor-state-not-configured = NOT CONFIGURED
doctor-state-unknown = UNKNOWN
doctor-state-yellow = YELLOW
doctor-state-red = RED

doctor-summary = { $counts }: { $verdict } (exit code of doctor: { $code })
doctor-count-green = { $count } green
doctor-count-yellow = { $count } yellow
doctor-count-red = { $count } red
doctor-count-unknown = { $count } unknown
doctor-count-not-configured = { $count } not configured
doctor-verdict-green = everything that was checked works
doctor-verdict-yellow = it works, and something needs attention
doctor-verdict-red = something does not work
doctor-verdict-authentication = this credential gives no access to the marketplace
doctor-verdict-open = not everything could be checked

doctor-check-configuration = configuration
doctor-check-database = database
doctor-check-database-write = database writes
doctor-check-database-schema = schema of the database
doctor-check-disk = disk
doctor-check-backup = backup
doctor-check-service = service
doctor-check-notices = messages about alarms
doctor-check-alarm = alarm
doctor-check-marketplace = marketplace
doctor-check-clock = clock
doctor-check-lock = store lock
doctor-check-credential = credential
doctor-check-password = password
doctor-check-scopes = scopes
doctor-check-rate-budget = rate budget
doctor-check-webhook-address = webhook address
doctor-check-receiver = webhook receiver
doctor-check-webhook = webhook
doctor-check-labels = label folder

doctor-too-slow = could not be checked within { $seconds } s
    .next = again: espelho doctor; if it stays so: journalctl -u espelho -n 50
doctor-unread = could not be looked at: { $cause }
    .next = espelho doctor
doctor-no-access = not looked at: somebody else works on the store, or it is not known who does
    .next = espelho status
doctor-not-reached = not looked at: the marketplace was not reached
    .next = once it is reached: espelho doctor
doctor-answers-errors = not looked at: the marketplace answers with errors
    .next = once it answers well: espelho doctor
doctor-no-token = not looked at: the token is not proved
    .next = see what is said above about the credential; then: espelho doctor
doctor-restored-no-token = not looked at: without a login, a restored database has no token
    .next = { doctor-lock-restored.next }
doctor-service-no-answer = the service did not answer in time
    .next = espelho status

doctor-configuration = valid in { $folder }; { $stores ->
    [one] 1 store
   *[other] { $stores } stores
    }

doctor-database = answers, with the schema of this version ({ $address })
doctor-database-none = not looked at: there is no database yet
doctor-busy = not looked at: another program has locked the database
    .next = the line above about the database's writing names it; then: espelho doctor
doctor-no-database = not looked at: the database does not open
    .next = the line above about the database has the cause and the next step; then: espelho doctor
doctor-another-user = not looked at: this user may not open the database
    .next = { doctor-no-database.next }
doctor-database-another-user = this user may not read and write { $path }
    .next = sudo -u { $user } { $command }
doctor-database-outside = the database lies in { $folder }, where the unit of systemd lets the service write nothing
    .next = sudo systemctl edit espelho, with the lines [Service] and ReadWritePaths={ $folder }; then: sudo systemctl restart espelho
doctor-database-hidden = the database lies in { $folder }, which the unit of systemd hides from the service (ProtectHome)
    .next = move the database: write database.url = "sqlite:espelho.db" into espelho.toml, which lies in /var/lib/espelho; then: sudo systemctl restart espelho
doctor-database-denied = the service's user may not read and write { $path }
    .next = sudo chown espelho:espelho { $path }*
doctor-database-not-yet = does not exist yet; espelho run will create it at { $address }
    .next = espelho run
doctor-database-older = has schema version { $found }, and this espelho reads { $wanted }
    .next = espelho migrate
doctor-database-newer = a newer espelho has migrated this database (schema { $found })
    .next = install here the espelho that migrated the database, or a later one; then: espelho doctor
doctor-database-restoring = a backup is being restored
    .next = wait until espelho restore ends, then: espelho doctor
doctor-database-unreachable = database_unreachable: { $address } does not answer: { $cause }
    .next = psql "{ $address }" -c "select 1"  # write the password where *** stands
doctor-database-failed = { $address } could not be opened: { $cause }
    .next = espelho check; journalctl -u espelho -n 50

doctor-process-unknown = another program, which the system does not show
doctor-process = process { $id }
doctor-process-named = process { $id } ({ $command })

doctor-write = a row was written at this moment
doctor-schema = tables, triggers, views and indexes are as espelho made them
doctor-schema-changed = missing, disabled or others: { $objects }
    .next = restart the service or run espelho migrate: both make all of them again, except tables
doctor-schema-unread = cannot read the schema of the database: { $cause }
doctor-write-failed = takes no writes: { $cause }
    .next = look at space and permissions: df -h; ls -l in the database's folder
doctor-write-busy = database_busy: the database stayed locked for the { $seconds } s that doctor waited; the lock belongs to { $holder }
    .next = { alarm-database-busy.next }

doctor-backup = the newest one is of { $at }
doctor-backup-late = the newest one is of { $at }, { $age } ago
    .next = sudo systemctl start espelho-backup; journalctl -u espelho-backup -n 20
doctor-credential-database = a login is put on record before it is made, and the database takes no writes now
    .next = mend the database first
doctor-backup-damaged = the newest one, { $path }, is damaged
    .next = sudo systemctl start espelho-backup
doctor-backup-none = there is none in { $folder } yet
    .next = sudo systemctl start espelho-backup (now); sudo systemctl enable --now espelho-backup.timer (each night)
doctor-backup-unread = { $folder } cannot be read: “{ $cause }”
    .next = sudo -u espelho espelho doctor
doctor-backup-of-server = the server's own tools copy a PostgreSQL database
    .next = pg_dump; see OPERATIONS, Backups
doctor-disk = { $free } free
doctor-disk-short = only { $free } free in { $folder }
    .next = df -h { $folder }; make room before it is full
doctor-disk-full = disk_full: only { $free } free in { $folder }; writes will fail
    .next = { alarm-disk-full.next }
doctor-disk-elsewhere = the database is on a PostgreSQL server; look at the disk there
doctor-disk-unknown = the system does not say how much is free
    .next = df -h

doctor-service = version { $version } answers on { $address }
doctor-service-stopped = service_stopped: nobody answers on { $address }
    .next = { alarm-service-stopped.next }
doctor-service-silent = service_stopped: the service takes connections on { $address } and does not answer, and gives the database no sign of life
    .next = sudo systemctl restart espelho; journalctl -u espelho -n 50
doctor-service-other = service_stopped: the espelho of another installation answers on { $address }, with another database
    .next = write another address into http.listen of espelho.toml; then: sudo systemctl start espelho
doctor-service-taken = service_stopped: { $taken }
    .next = { $step }
doctor-service-mute = somebody is on { $address } and does not answer as espelho does: { $cause }
    .next = ss -ltnp | grep { $address } shows the program; if it is another one, write another address into http.listen in espelho.toml; if it is espelho: sudo systemctl restart espelho; journalctl -u espelho -n 50
doctor-service-unready = version { $version } on { $address } is not ready now: { $why }
    .next = espelho status
doctor-service-first-reading = version { $version } works on { $address }, and is ready when the first reading of a store has ended
    .next = wait for its end (5 min for 1,000 orders and 500 products, 84 min for 20,000 and 5,000); how far it is: espelho status --watch
doctor-service-reconciling = version { $version } works on { $address }; its first reconciliation since the start is under way
doctor-service-not-ready = version { $version } on { $address } is not ready yet
    .next = espelho status

doctor-alarm = { $code }: { $said }
    .next = { $next }

doctor-marketplace = { $address } answered in { $milliseconds } ms
doctor-marketplace-unreachable = marketplace_unreachable: { $address } does not answer: { $cause }
    .next = { alarm-marketplace-unreachable.next }
doctor-marketplace-errors = marketplace_errors: { $address } answers { $status }
    .next = { alarm-marketplace-errors.next }
doctor-marketplace-throttled = throttled: { $address } answers 429, too many requests
    .next = { alarm-throttled.next }
doctor-marketplace-limited = { $address } has just answered 429, too many requests: it asks to wait until { $free_at }. A single such answer passes by itself; where it lasts, an alarm says so
    .next = after { $free_at }: espelho doctor
doctor-marketplace-elsewhere = { $address } sends us elsewhere ({ $status })
    .next = correct base_url in the store's file, then: espelho check

doctor-clock = { $seconds } s apart from the marketplace's
doctor-clock-untold = the marketplace does not say what time it is
doctor-clock-slow = clock_wrong: this machine is { $span } behind
    .next = { alarm-clock-behind.next }
doctor-clock-fast = clock_wrong: this machine is { $span } ahead
    .next = { alarm-clock-ahead.next }

doctor-lock-service = the service works on the store ({ $owner })
doctor-lock-told = the service says that it works on the store
doctor-lock-free = nobody worked on the store; doctor uses its token meanwhile
doctor-lock-restored = this database was restored from a backup: doctor makes no login unasked, because a login here ends the token of the installation that still runs with this credential
    .next = if no other installation uses this credential: espelho doctor --login
doctor-lock-not-loaded = the running service does not know the store: it has the configuration from before; doctor uses its token meanwhile
    .next = sudo espelho reload
doctor-lock-silent = a service works on the store that does not answer here: { $owner }, { $process }
    .next = on this machine: sudo systemctl restart espelho; on another one, look there: espelho doctor
doctor-lock-espelho = another espelho works on the store: { $owner }, { $process }
    .next = wait until it ends, or look on its machine: espelho doctor
doctor-lock-stranger = another program holds the store: { $process }
    .next = close that program, then: espelho doctor
doctor-lock-taken = somebody else has just taken the store: { $cause }
    .next = espelho doctor
doctor-lock-failed = the store could not be opened: { $cause }
    .next = check { $file }, then: espelho doctor

doctor-credential = the token works, proved at this moment
doctor-credential-service = the token works, as an answer to the service { $seconds } s ago proves
doctor-credential-of = the token works, proved at this moment; the store is { $name }
doctor-credential-withheld = the token works, and the marketplace does not say whose it is ({ $status })
    .next = see in the seller portal that the credential is this store's, then: espelho doctor
doctor-credential-refused = credential_refused: the marketplace does not accept { $username }: “{ $cause }”
    .next = { alarm-credential-refused.next }
doctor-login-refused = credential_refused: the marketplace refuses the login of { $username } (422){ $fields ->
        [none] {""}
       *[other] {" "}for { $fields }
    }
    .next = { alarm-login-refused.next }
doctor-credential-foreign = foreign_login: another program uses { $username } and ends our token
    .next = { alarm-foreign-login.next }
doctor-login-limited = no login is possible until { $free_at }: the marketplace accepts 5 a minute for each username and address. That proves nothing of the password, neither for nor against it
    .next = meanwhile see whether another program logs in with this username (another ERP, a hub, an old installation): it needs a credential of its own from the seller portal, and another password keeps it out. After { $free_at }: { $command }
doctor-login-unanswered = the login of { $at } has no answer yet: the marketplace's limit (5 a minute for each username and address) may be used up. That proves nothing of the password, neither for nor against it
    .next = meanwhile see whether another program logs in with this username (another ERP, a hub, an old installation): it needs a credential of its own from the seller portal, and another password keeps it out. After { $free_at }: { $command }
doctor-credential-failed = could not be proved: { $cause }
    .next = espelho doctor

doctor-password = accepted at this moment, by a login
doctor-password-not-asked = not tested; the current token does not need it
    .next = espelho doctor --login
doctor-password-unread = not compared with the one that a login proved: this user may not read { $place }
    .next = sudo -u espelho { $command }
doctor-password-proved = not tested now; a login proved it at { $at }
    .next = espelho doctor --login
doctor-password-changed = not proved: { $file } was written at { $changed }, after the last login that succeeded ({ $at })
    .next = espelho doctor --login
doctor-password-other = not proved: the last login that succeeded ({ $at }) had another password than { $file } has now
    .next = espelho doctor --login
doctor-password-refused = refused by the marketplace at the login of { $at }; the token still lives
    .next = { alarm-credential-refused.next }

doctor-scopes = confirmed within the last minute: { $granted }; only a write would show: { $unseen }
doctor-scopes-missing = scope_missing: the credential lacks { $missing }
    .next = { alarm-scope-missing.next }
doctor-scopes-unread = { $failed }: could not be seen: { $cause }
    .next = espelho doctor
doctor-scopes-failed = could not be seen: { $cause }
    .next = espelho doctor

doctor-budget = { $free } of { $limit } requests a minute are free; our own work uses the others
doctor-budget-refused = the marketplace refuses requests (429); { $free } of our { $limit } a minute are free
    .next = { alarm-throttled.next }
doctor-budget-shared = another program uses the login, and may spend from the same { $limit } requests a minute
    .next = { alarm-foreign-login.next }

doctor-webhook-none = none is configured; the store is kept in step by polling
    .next = to be told of changes besides polling: write [webhook] in { $file }, then: sudo espelho reload
doctor-webhook-by-hand = made in the seller portal, with a secret of its own ({ $address })
doctor-webhook-address = our last login registered it at { $address }
doctor-webhook-unregistered = no login of ours that registered it is on record; the service's next login registers { $address }
    .next = { $running ->
        [yes] sudo espelho reload
       *[no] sudo systemctl start espelho && espelho doctor
    }
doctor-webhook-elsewhere = webhook_elsewhere: is registered at { $registered }; the configuration says { $configured }
    .next = { alarm-webhook-elsewhere.next }
doctor-mistakes-no-login = not looked at: beside what is marked above, doctor makes no login of its own; it might end another store's token
    .next = correct what is marked above; then: espelho doctor
doctor-store-left-out = nothing of this store was examined; why stands above
    .next = correct what is marked above; then: espelho doctor
doctor-webhook-not-its = not tested: this machine's service does not work on this store now
    .next = the line above about who works on the store has the cause and the next step; then: espelho doctor
doctor-webhook-no-service = not tested: without the service nobody receives
    .next = sudo systemctl start espelho && espelho doctor
doctor-webhook = the test delivery to { $address } arrived after { $milliseconds } ms
doctor-webhook-arrived = a test delivery arrived after { $milliseconds } ms; to which address the marketplace sent it is not seen from here
doctor-webhook-path = the webhook goes to { $address }, and the service receives at { $path }
    .next = in webhook.public_url, end the address with { $path }; it is right as it is only if a proxy changes the path
doctor-webhook-refused = the marketplace did not send the test delivery: { $cause }
    .next = see in the seller portal that the webhook is there and active, then: espelho doctor
doctor-webhook-not-asked = the test delivery could not be asked for: { $cause }
    .next = espelho doctor
doctor-webhook-not-received = the running service receives no webhooks for this store: it uses an earlier configuration
    .next = sudo espelho reload
doctor-webhook-no-answer = the service did not say whether a test delivery came
    .next = espelho status
doctor-webhook-unanswered = no test delivery to { $address } has come to { $listen } yet
    .next = what comes to { $address } must reach { $listen } of this machine: compare webhook.public_url, its proxy and webhooks.listen with the history of the webhook's deliveries in the seller portal, then: espelho webhook test --wait=20 --store { $store }
doctor-webhook-paused = not tested: the work on the store is paused, and a test delivery waits with the others
    .next = espelho resume --store { $store }
doctor-webhook-signature = a delivery arrived, signed with a secret that is not known
    .next = { $made ->
        [by-hand] compare the webhook's secret in the seller portal with that of webhook.secret_file in { $file }, and run again: espelho doctor. If the test arrives then, a stranger had posted
       *[other] if the database was made anew, the secret of this webhook is lost with the old one: delete the webhook in the seller portal, then: sudo systemctl restart espelho (its login makes another). If not, a stranger had posted: run espelho doctor again
    }

doctor-receiver = receives on { $address }
doctor-receiver-tls = accepts connections on { $address } (TLS)
doctor-receiver-socket = receives on { $address }, the address of espelho.socket; webhooks.listen says { $configured }, and is not used
    .next = use one address: sudo systemctl edit espelho.socket (below [Socket]: a line ListenStream= and a line ListenStream={ $configured }), or correct webhooks.listen; then: sudo systemctl stop espelho.socket espelho && sudo systemctl start espelho.socket espelho
doctor-receiver-other = another program answers on { $address } ({ $status })
    .next = ss -ltnp | grep { $address }
doctor-receiver-closed = nobody receives on { $address }: { $cause }
    .next = sudo systemctl restart espelho; ss -ltnp | grep { $address }
doctor-receiver-no-service = not looked at: without the service nobody receives
    .next = sudo systemctl start espelho && espelho doctor

doctor-labels = { $folder } takes writes
doctor-labels-none = no file of a label is kept
doctor-labels-not-yet = there are no labels yet; the service makes { $folder } with the first one
doctor-labels-another-user = { $folder } cannot be seen by this user
    .next = sudo -u { $user } { $command }
doctor-labels-failed = { $folder } takes no writes: “{ $cause }”
    .next = ls -ld { $folder }; the folder must belong to the service's user
doctor-notices = people hear of alarms by { $each }
doctor-notices-last = { $channel } (last at { $at })
doctor-notices-ping = the dead-man switch is configured; alarms themselves are told to nobody
doctor-notices-none = alarms are told to nobody
    .next = to hear of them: [notices] in espelho.toml, then espelho notice test
doctor-notices-mistake = not looked at: beside what is marked above, nothing of [notices] was read
    .next = correct what is marked above; then: espelho doctor
doctor-notices-untried = no message has gone out by { $channel } yet
    .next = espelho notice test
doctor-notices-failing = no message has gone out by { $channel } since { $since }: “{ $detail }”
    .next = correct [notices.{ $channel }] in espelho.toml or what receives them, then: espelho notice test --channel { $channel }
doctor-notices-unread = the database does not say how the messages fare
