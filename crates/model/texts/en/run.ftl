# Reconciliations, sweeps and audits: why something ended early, and the reports.

run-stopped = Stopped before the end.
    .next = Run again: it resumes where it stopped.
run-dry-run = Nothing was written (--dry-run): “changed” is what would be read in full.
run-stopped-before = Stopped before it began.
    .next = Run again.
run-stopped-waiting = Stopped while it was waiting for the marketplace.
    .next = Run again: it resumes where it stopped.
run-audit-stopped = Stopped before the end.
    .next = Run again: an audit begins again.
run-left = Stopped waiting; the service that holds the store goes on with the run.
    .next = See how it ends: espelho status
run-audit-left = Stopped waiting; the service that holds the store goes on with the audit.
    .next = See what it found: espelho status
run-reloaded = The service uses the new configuration.
run-reloaded-partly = The service uses the new configuration, but for what needs a restart: { $parts }
    .next = sudo systemctl restart espelho
run-reload-unknown = The service has the request and has not said yet what became of it; its log does.
    .next = espelho status
run-reload-refused = The service refused the new configuration and keeps the earlier one{ $count ->
        [0] ; its log names the mistake.
       *[other] : { $mistakes }
    }
    .next = Correct it, look with espelho check, and reload: sudo espelho reload
run-reload-not-asked = Nothing was asked of the service: it works on with the configuration that it has. Correct this, then: sudo espelho reload
run-reload-no-service = No service answers on { $address }.
    .next = If it is stopped, its next start reads the new configuration: sudo systemctl start espelho
run-reload-other = The service on { $address } works with another database; nothing was asked of it.
    .next = If database.url has changed since it was started: sudo systemctl restart espelho. If it is another installation's: correct http.listen in espelho.toml, then: espelho reload
run-reload-not-taken = The service on { $address } does not reload: it is a demonstration, or another version.
    .next = End a demonstration with Ctrl-C and start it again; for the service: sudo systemctl restart espelho
run-reload-not-here = The service says that it is process { $process }, and here that number is another program's or nobody's: it runs in a container, or the program has another name.
    .next = Run in its container: espelho reload
run-reload-denied = This user may not signal the service, which is process { $process } of another user.
    .next = sudo espelho reload
run-reload-denied-by-hand = This user may not signal the service, which is process { $process } of another user.
    .next = sudo kill -HUP { $process }
run-handed-over = { $store }: the service that holds the store does the run.
run-audit-handed-over = { $store }: the service that holds the store does the audit.
run-cut-off = The service that did the run ended before it said how the run went.
    .next = See espelho status and run again: it resumes where it stopped.
run-audit-cut-off = The service that did the audit ended before it said what it found.
    .next = See espelho status and run again: an audit begins again.
run-store-lost = The service lost the store before it could begin.
    .next = See in espelho status who holds it, and run again.
run-too-many-gone = { $missing } of { $live } mirrored records ({ $resource }) are missing from a listing of { $listed }. espelho marks at most { $limit } as gone at once, so none was marked.
    .next = Look in the seller portal. If they are really gone: espelho --resync --store { $store } --accept-gone
run-incomplete = The marketplace says that there are { $total } records ({ $resource }) and lists only { $seen }; none was marked as gone.
    .next = Run again. If it stays so, the listing has a limit or counts its pages differently (assumptions.page_parameter).
run-listings-incomplete = The listings of campaign { $campaign } cannot all be read: rows come without an id, or the pages do not end.
    .next = The mirror tries again by itself, ever more rarely. If it stays so, report it to the marketplace.
run-ignores-page = The marketplace ignores the page parameter: page { $page } is page { $same } again.
    .next = Set assumptions.page_parameter in the store's file to the name that the marketplace uses.
run-no-progress = The listing does not end: pages up to { $page } repeat rows of earlier ones.
    .next = Set assumptions.page_parameter in the store's file to the name that the marketplace uses.
run-not-asked = Not read: the marketplace had failed row after row before it.
    .next = The mirror tries again by itself.
run-not-found = The marketplace says that it does not have this record.
    .next = The mirror asks again over a day; espelho --resync decides at once.
run-foreign-store = The delivery is about store { $told }, and this is store { $own }.
    .next = Each store has a webhook of its own: look in the seller portal which credential this address belongs to.
run-shared-sku = Two products have the SKU { $sku }: { $one } and { $other }. The rows of product_stock are those of the one that was read last, and what the ERP writes for this SKU waits.
    .next = Give each a SKU of its own in the seller portal. If one of them no longer exists, there is nothing to do: the next complete reconciliation notices.
run-unreadable-delivery = A webhook delivery cannot be read: “{ $problem }”
    .next = Nothing is lost where a sweep finds the change. Report the body of this delivery (webhook_inbox.body, by its digest).
run-aimless-delivery = A delivery of { $event } that does not say what it is about.
    .next = Nothing is lost where a sweep finds the change. Report the body of this delivery (webhook_inbox.body, by its digest).
run-note-unlisted = { $rows ->
        [one] { $rows } record is not listed any more but still there
       *[other] { $rows } records are not listed any more but still there
    }; not marked as gone.
run-note-listings-kept = { $rows ->
        [one] { $rows } listing of a campaign is not listed any more
       *[other] { $rows } listings of campaigns are not listed any more
    }, too many to be believed at once; none was marked as gone. If they are really gone: espelho --resync --only campaigns --store { $store } --accept-gone
run-note-unclear = { $rows ->
        [one] { $rows } record could not be asked for
       *[other] { $rows } records could not be asked for
    }; not marked as gone.
run-note-count = { $remark } ({ $rows ->
        [one] { $rows } record
       *[other] { $rows } records
    })
run-note-field = unreadable field: { $field }
run-note-value = unknown value in { $field }: “{ $value }”
run-note-nameless = listed rows without an identifier

# Labels
run-label = Label of order { $order }: { $why }
    .next = { $next }
run-label-disk-full = The disk is full: the label's file could not be written.
    .next = Make room where labels.directory is: the mirror goes on by itself.
run-label-disk = The label's file could not be written: “{ $problem }”
    .next = Let espelho's user write to labels.directory: the mirror goes on by itself.
run-not-a-label = The file server sent something that is no { $wanted } label.
    .next = Print the label from the seller portal and tell the marketplace's support; the mirror tries again by itself.
run-label-without-shipment = The marketplace names no shipment for this label.
    .next = Print the label from the seller portal.

# Audit
run-audit-not-mirrored = not mirrored yet: the service reads it
run-audit-no-route = the API has no route that reads this
run-audit-endless = the listing does not end
run-audit-closed = the marketplace does not let it be read: { $why }
run-audit-equal = { $store }: no difference in what was compared ({ $requests ->
        [one] { $requests } request
       *[other] { $requests } requests
    })
run-audit-different = { $store }: differs from the marketplace ({ $requests ->
        [one] { $requests } request
       *[other] { $requests } requests
    })
run-audit-partial = { $store }: could not be compared in full ({ $requests ->
        [one] { $requests } request
       *[other] { $requests } requests
    })
run-audit-columns = { $listed } listed, { $mirrored } mirrored, { $sampled } details read, { $differing } differ
run-audit-more = and { $more } more
run-audit-next-resync = Next step: espelho --resync --deep --store { $store }
run-audit-next-sweep = The service reads the rest again with its next sweep.
run-difference-missing = missing in the mirror
run-difference-surplus = surplus in the mirror
run-difference-listing = differs in the listing
run-difference-detail = differs in the detail
run-difference-edited = the columns were edited in the mirror
run-difference-unreadable = the detail could not be read

# The report of --resync
run-report-line = { $store }: { $state } in { $seconds } s, { $requests ->
        [one] { $requests } request
       *[other] { $requests } requests
    }, { $logins ->
        [one] { $logins } login
       *[other] { $logins } logins
    }
run-report-limited = { $rate_limited ->
        [one] { $rate_limited } request refused as too many (429)
       *[other] { $rate_limited } requests refused as too many (429)
    }
run-report-columns = { $seen } seen, { $changed } changed, { $gone } gone, { $failed } failed
run-report-resumed = resumed at page { $page }
run-report-note = note: { $note }
run-report-failure = { $key } failed: { $error }
run-report-hidden = and { $hidden } more: SELECT * FROM sync_failures
run-error = Error: { $error }
run-next-step = Next step: { $next }

# The service
run-ended = { $what } ended because of a defect.
    .next = systemd starts the service again by itself; without it, start it again. Send the log above to whoever maintains espelho.
run-ended-webhooks = The webhook receiver
run-ended-store = The work on a store
run-ended-server = The server of health and metrics
run-ended-disk = The disk refused to synchronise: nobody knows what is on it.
    .next = Check the disk and start the service again.
run-ended-files = { $file } was deleted or replaced while the service had it open. Everything that it had, acknowledged deliveries too, is in { $copy }.
    .next = espelho restore --replace { $copy } puts it back. If another database was put there on purpose, start the service again.
run-ended-files-unsaved = { $file } was deleted or replaced while the service had it open, and its content could not be saved: { $cause }
    .next = Put a backup in its place (espelho restore), then start the service.
run-panicked = A task of espelho failed: “{ $said }”
    .next = systemd starts the service again by itself; without it, start it again. Send the log above to whoever maintains espelho.
run-part-panicked = A part of espelho failed at { $place } and was started again.
    .next = Work goes on. Send this line to whoever maintains espelho; then: espelho retry { $row }
run-poisoned = Set aside: espelho failed twice at { $place } while it worked on this. Everything else goes on.
    .next = Send this line to whoever maintains espelho. After the correction: espelho retry { $row }
run-poisoned-process = Set aside: espelho ended twice while it worked on this. Everything else goes on.
    .next = Send this line to whoever maintains espelho, with the end of the log. After the correction: espelho retry { $row }
run-lock-table = PostgreSQL's lock table is too small for { $stores ->
        [one] one store
       *[other] { $stores } stores
    }: max_locks_per_transaction is { $found }, and { $needed } is needed, half of it for the other sessions. Where the table is full, the ERP's sessions fail too.
    .next = In PostgreSQL: ALTER SYSTEM SET max_locks_per_transaction = { $needed }; then restart PostgreSQL, and espelho.
run-schedule = schedule.reconcile cannot be used: “{ $problem }”
    .next = Correct schedule.reconcile in espelho.toml.

# Commands
run-unknown-store = There is no store “{ $asked }”.
    .next = Name one that is configured: { $known }.
run-several-stores = There are several stores.
    .next = Name one with --store KEY.
run-command-of-another = Command { $number } is of the store “{ $own }”, not of “{ $asked }”.
    .next = Leave out --store: the number is enough.
run-unknown-seq = The feed has not reached { $seq }: its newest number is { $newest }.
    .next = Acknowledge a "seq" that espelho feed has printed.
run-output = The output could not be written: “{ $problem }”
    .next = See where stdout goes.
run-resync-alone = --resync is a run of its own: leave the command out.
run-signals = The system's signals cannot be received: “{ $problem }”
run-listen = http.listen { $address } cannot be used: “{ $problem }”
    .next = Stop what listens there or choose another port.
run-webhooks-listen = webhooks.listen { $address } cannot be used: “{ $problem }”
    .next = Stop what listens there or choose another port.
run-certificate = The certificate of the webhook receiver cannot be used: “{ $problem }”
    .next = Use PEM files in webhooks.tls_certificate_file and webhooks.tls_key_file.
run-worded = { $error }
    .next = { $next }
run-check-valid = The configuration is valid; stores: { $stores }
run-no-runtime = espelho could not begin: “{ $problem }”
run-webhook-none = Store { $store } has no [webhook] in stores/{ $store }.toml: there is nothing to move.
    .next = to have one, write [webhook] with public_url there; then: sudo espelho reload
run-webhook-by-hand = The webhook of store { $store } was made in the seller portal (webhook.secret_file): no login changes its address.
    .next = change the address in the portal; then: espelho webhook test --wait=20 --store { $store }
run-webhook-there = The webhook of store { $store } is registered at { $address } already.
    .next = to see if deliveries arrive: espelho webhook test --wait=20 --store { $store }
run-webhook-moved = The next login moves the webhook of { $store } to the configured address.
    .next = to check, then: espelho doctor
run-webhook-unconfirmed = The next login moves the webhook of { $store }, but the service has not confirmed that it has read the configuration again.
    .next = sudo espelho reload; to check, then: espelho doctor
run-webhook-moving = The service has read the configuration again, and within seconds registers the webhook of { $store } at the configured address.
    .next = to check, then: espelho doctor
run-no-such-delivery = The inbox has no such delivery.
    .next = See which there are: espelho webhook replay --all --dry-run. Handled deliveries are kept for seven days.
run-replay-matching = { $deliveries ->
        [one] { $deliveries } delivery matches
       *[other] { $deliveries } deliveries match
    }; { $left } of them wait to be handled already
run-replay-more = and { $deliveries } more
run-replay-dry = Nothing was changed (--dry-run).
run-replayed = { $deliveries ->
        [one] { $deliveries } delivery will be handled again
       *[other] { $deliveries } deliveries will be handled again
    }: by the running service within seconds, else when it starts
run-pause = { $store } is paused ({ $scope }) until { $until }, by { $by }
run-paused = Reading for { $store } is paused.
    .next = espelho resume --store { $store }
run-resumed = { $count ->
        [0] No such pause lasts
        [one] { $count } pause has ended
       *[other] { $count } pauses have ended
    }
run-grants-sqlite = grants is for PostgreSQL; this configuration uses SQLite, where the permissions of the files decide
    .next = For an ERP on this machine: sudo usermod -aG espelho USER-OF-THE-ERP. For a PostgreSQL: let database.url name it, or use --config with the folder of a configuration that does

man-manual = User Commands
man-name = NAME
man-synopsis = SYNOPSIS
man-description = DESCRIPTION
man-notes = NOTES
man-version = VERSION
man-failed = the manual cannot be written: “{ $problem }”
man-unknown = “{ $topic }” is no command; espelho --help lists all
