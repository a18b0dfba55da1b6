# Mistakes in the configuration: what follows “FILE:LINE:”.

config-mistake = { $mistake }
    .next = Correct it and check it: espelho check
config-at = { $place }: { $problem }
config-at-next = { $place }: { $problem } { $next }
config-none-yet = { $place }: { $problem }. To configure it with six questions: sudo espelho init (without sudo in a folder of your own); to see everything without a configuration: espelho demo
    .next = sudo espelho init
config-no-folder = there is no such folder, so nothing is configured yet; --config names another one
config-shared-credential = has the credential of store { $first }; create one for each store in the seller portal
config-same-listeners = http.listen and webhooks.listen are the same address ({ $listen }); give each a port of its own
config-webhook-of-other = webhook.public_url is the address of store { $other }; use the one of this store, which ends in /webhooks/{ $store }
config-stores-unreadable = cannot be read (“{ $problem }”); put one KEY.toml for each store there
config-bad-key = “{ $key }” is no name of a store (lower-case letters, digits, hyphen and _); rename the file
config-no-stores = has no KEY.toml, so no store is configured yet; there is one for each store
config-unreadable = cannot be read: “{ $problem }”
config-password-quotes = a password or token must be text in quotes
config-unknown-key = unknown key "{ $key }"{ $home ->
        [none] { $nearest ->
            [none] {""}
           *[other] ; did you mean "{ $nearest }"?
        }
       *[other] ; it belongs to [{ $home }]
    } (valid { $section ->
        [none] here
       *[other] in [{ $section }]
    }: { $known })
config-unknown-key-nowhere = unknown key "{ $key }"; no key is valid { $section ->
        [none] here
       *[other] in [{ $section }]
    }
config-missing-key = missing key { $key }
config-wrong-type = { $expected } is expected here, and { $found } is written
config-unknown-value = "{ $value }" cannot be used; write one of these: { $known }
config-not-toml = the text is not valid TOML: “{ $problem }”
config-language = there is no language "{ $tag }"; write "pt-BR" or "en"
config-timezone = there is no time zone "{ $name }"; write an IANA name: "America/Sao_Paulo", "America/Manaus", "UTC"
config-tls-key = webhooks.tls_certificate_file needs tls_key_file beside it
config-tls-certificate = webhooks.tls_key_file needs tls_certificate_file beside it
config-queue = webhooks.queue_megabytes may be 1024 at most
config-cron = schedule.reconcile "{ $expression }" is no cron expression (“{ $problem }”); write six fields: second minute hour day month weekday
config-cadence = "{ $value }" is neither a number of seconds (60), a span ("90s", "5m", "2h", "1d"), nor a cron expression of six fields in UTC ("0 */5 * * * *")
config-labels-directory = labels.directory is empty; write the name of a folder, or leave it out for "labels"
config-labels-host = labels.hosts: "{ $host }" is no host; write a name like "storage.example", or "*.storage.example" for all below it
config-labels-format = labels.formats: "{ $format }" is no format of labels; choose from a4, zebra, thermal, zebra_pdf, or "*" for all
config-retention = retention.{ $key } is { $days ->
        [one] { $days } day
       *[other] { $days } days
    }, too short to be safe; write { $least } or more, or leave the key out
config-number = { $field } is { $value }; write a number that is 0 or more
config-webhook-not-public = webhook.public_url "{ $url }" is not reachable from the internet, so production refuses it; write the public address of your proxy
config-webhook-events = webhook.events names no event; write ["*"] for all
config-webhook-event = the marketplace has no event { $event }; the nearest is { $nearest }, and ["*"] is all
config-log-level = log.level { $level } is no level: error, warn, info, debug, trace, or a filter like info,espelho_api_client=debug
config-webhook-secret = the webhook secret cannot be read ({ $tried })
config-tokens-unreadable = the tokens cannot be read ({ $tried })
config-no-tokens = has no [[token]]; write one, or leave [http] tokens_file out
config-token-name = a token has no name; give it one, such as "erp"
config-token-twice = the token "{ $name }", or its name, stands there twice; keep one
config-token-one = the token "{ $name }" needs either token or sha256, not both
config-token-short = the token "{ $name }" is shorter than { $least } characters; write the output of: openssl rand -hex 32
config-token-sha256 = sha256 of the token "{ $name }" is not 64 hex digits; write the output of: printf %s TOKEN | sha256sum
config-token-scopes = the token "{ $name }" has no scope; write any of "read", "write", "feed"
config-token-store = the token "{ $name }" names the store "{ $store }", which is no name of a store
config-password-twice = credentials has both password and password_file; keep one
config-password-empty = credentials.password is empty; see the seller portal
config-no-password = credentials has neither password nor password_file, and systemd passed no credential
config-password = the password cannot be read ({ $tried })
config-file-empty = { $path } is empty
config-file-denied = { $path }: “{ $problem }”
    .next = it must belong to the service's user: sudo chown espelho { $path } && sudo chmod 600 { $path }. If it does, run this command as that user: sudo -u espelho espelho doctor
config-file-anothers = { $path } belongs to user { $user }, who alone may read it
    .next = run this command as that user: sudo -u { $user } { $command }. If the service runs as another: sudo chown espelho { $path }
config-file-not-services = the configuration is valid, but the service's user may not read { $path }
    .next = sudo chown espelho { $path } && sudo chmod 600 { $path }. A password that systemd passes (LoadCredential) needs no file that the service may read
config-file-error = { $path }: “{ $problem }”
config-username = credentials.username is empty; see the seller portal
config-naive-offset = assumptions.naive_offset "{ $value }" is not like "-03:00"
config-address-credentials = { $field } carries credentials; they belong in [credentials]
config-address = { $field } "{ $address }" is not an address; write it like https://marketplace.example
config-address-https = { $field } "{ $address }" must begin with https://
config-address-production = { $field } "{ $address }" must begin with https:// in production; only environment = "sandbox" may use http://
config-address-loopback = { $field } "{ $address }" is an address of this machine, which production refuses; use environment = "sandbox"
config-base-url = base_url is the host of the marketplace alone, without a path of the API, "?" or "#"; write "{ $instead }"
config-rate-least = limits.requests_per_minute must be at least 1
config-rate-most = limits.requests_per_minute is { $rate }, and the marketplace allows { $most }; write a number from 1 to { $most }
config-type-text = text in quotes
config-type-whole = a whole number
config-type-positive = a whole number from 1
config-type-number = a number
config-type-switch = true or false
config-type-list = a list in brackets
config-type-address = an address with a port ("127.0.0.1:8787")
config-type-table = a section with keys
config-found-list = a list
config-found-table = a section
config-no-file = is no regular file: the configuration is read from files
config-file-pipe = { $path }: is a pipe, and the password is read more than once
config-operator = line { $line }: write NAME:ROLE:TOKEN; the role is operator or viewer, the token has 16 letters or more, or is sha256= with 64 digits
config-operator-twice = line { $line }: this name is in the file already
config-notice-address = { $field } is not an address; write https://…
config-notice-credentials = { $field } carries credentials before its host; use a token or a part of the path
config-notice-https = { $field } must begin with https://; http:// is only for this machine (127.0.0.1)
config-notice-twice = { $field } and { $field }_file are both written; keep one
config-notice-unreadable = { $field } cannot be read ({ $tried })
config-notice-needs = { $field } needs { $other } beside it
config-notice-mailbox = { $field }: "{ $address }" is no mail address; write "name@domain" or "Name <name@domain>"
config-notice-plain = notices.smtp would send the password without encryption; write tls = "starttls" or "implicit"
config-notice-program = notices.exec.command: "{ $program }" is not a whole path; write one like "/usr/local/bin/program"
config-notice-least = { $field } must be at least 1
config-notice-most = { $field } may be { $most } at most
