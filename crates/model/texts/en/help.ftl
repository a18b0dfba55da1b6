# The command line's help: help-COMMAND, and help-COMMAND--ARGUMENT or, where it holds for all, help--ARGUMENT.

help--config = The configuration: DIR/espelho.toml and DIR/stores/KEY.toml [default: $ESPELHO_CONFIG, else /etc/espelho if it exists, else ./config]
help--json = Report as one JSON object on stdout
help--lang = Speak this language: pt-BR or en [default: what LC_ALL, LC_MESSAGES or LANG name, else the installation's]
help--help = Print help
help--version = Print version
help--subcommand = Print help for this command
help--store = Only this store; where something is written and there are several, which one
help--sku = Of which SKU
help--location = Where: stock_locations.location_id
help--number = The order's number
help--entity = Which table, as in espelho errors
help--key = Which row, as in espelho errors
help--all = Every row that is failed, held or in doubt (of ENTITY, where one is named)

help-espelho = Keeps a seller's ERP tables and a Brazilian marketplace in step.
help-espelho--resync = Reconcile once, completely, and end; a run that was killed is resumed
help-espelho--store = Only this store (repeatable)
help-espelho--only = Only these resources, separated by commas: orders and products (both, where none is named), shipments, tracking, invoices, events, financial, labels, campaigns, media_images, profile
help-espelho--since = Only orders created since this day (2026-01-31 or 31/01/2026); nothing is marked as gone then
help-espelho--restart = Begin again instead of resuming
help-espelho--deep = Read every detail, also of rows that are listed as they were
help-espelho--dry_run = Read the listings and say what would be done; change nothing
help-espelho--accept_gone = Mark rows as gone however many the marketplace no longer lists
help-run = The service: migrates, takes the stores, reconciles on schedule, receives webhooks, pushes, serves status and metrics
help-demo = A whole marketplace, a mirror and their service in one process, without any configuration
help-demo--once = End after the first complete reconciliation, and print what was mirrored
help-demo--dir = Where to put the database [default: a new folder among the temporary files]
help-demo--orders = Orders of the demonstration store
help-demo--products = Products of the demonstration store
help-demo--seed = Another number, another store
help-sandbox = The marketplace in a box: serves the Seller Integration API with generated or real data
help-sandbox--listen = Address and port to serve on; port 0 takes a free one
help-sandbox--storage_listen = Address and port of the object storage; a free port beside the API where it is not given
help-sandbox--control = Serve /_sandbox/ too: statistics, the journal, faults and changes, without a token; whoever reaches the address can change everything
help-sandbox--open_store_page = Open the store page routes, which are in BETA and otherwise answer 403
help-sandbox--json = Print one JSON object with the address and every credential on stdout
help-sandbox--olist = Serve the Olist data set: the folder with its seven .csv.gz files
help-sandbox--olist_split = Whose the Olist orders are: all of one store, or each of its seller, without those that have no items
help-sandbox--stores = Stores to generate
help-sandbox--orders = Orders to generate for each store
help-sandbox--products = Products to generate for each store
help-sandbox--seed = The same seed and counts give the same stores, credentials and orders
help-sandbox--fixed_dates = Dates the orders up to 31 March 2026 in place of the day of the start: byte-identical answers on any day
help-sandbox--rate = Requests a minute that each token may make, or off
help-sandbox--rate_window = How the minute of the limit is counted
help-sandbox--list_shape = The shape of meta in listings, which the API document leaves open
help-sandbox--numbers_as_strings = Write decimals and counts as JSON strings
help-sandbox--ignore_page = Answer page 1 whatever page is asked for
help-sandbox--strict_scopes = Ask for the read and write abilities on the product routes too, for which the document names none
help-sandbox--public_webhooks = Refuse webhooks that are not public HTTPS, as the marketplace does; without it, local receivers are welcome
help-init = Ask six questions, write the configuration, create the database and try everything
help-init--base_url = The address of the marketplace's API
help-init--username = The username, from the seller portal
help-init--password_file = A file that the password is read from, instead of typing it; it is copied into the configuration
help-init--database = The database [default: sqlite:espelho.db]
help-init--webhook = The public address of the webhook, with the path /webhooks/KEY; empty: polling only
help-init--language = The language of the texts in the database and of the comments in the configuration: pt-BR or en
help-init--store = The store's name in tables and commands [default: the first part of the username]
help-init--replace = Replace the store's file if there is one
help-check = Check the configuration, and nothing else
help-reload = Make the running service read its configuration again, and say what became of it; ends with 3 if a part needs a restart or no answer comes within 10 s
help-doctor = Look at everything that has to work, and say for each what to do
help-webhook = The webhooks
help-webhook-move = Give a store's webhook the address that is configured, with the next login; a running service reads the configuration first; whoever receives at the old address receives nothing any more
help-webhook-move--key = The store
help-webhook-move--store = The store, as other commands name it
help-webhook-replay = Have kept deliveries handled again: the service reads anew what they are about, so nothing doubles
help-webhook-replay--delivery = Which delivery: its number in the inbox, or its key in espelho errors
help-webhook-replay--all = All kept deliveries that the options select
help-webhook-replay--since = Only those that arrived then or later: a span before now (90s, 30m, 2h, 1d), a day (2026-01-31, 31/01/2026) or a time (2026-01-31T14:05, local unless it ends with an offset)
help-webhook-replay--event = Only of this event: order.paid
help-webhook-replay--dry_run = Say which they are, and change nothing
help-webhook-test = Ask the marketplace for a test delivery to a store's webhook, and say what became of it
help-token = The tokens
help-token-status = What the database knows of each store's token, password and logins, without the token; never logs in
help-notice = The messages to people about alarms
help-notice-test = Send a test message by every configured channel, and say what became of each; ends with 1 when none went out, 3 when some did not
help-notice-test--channel = Only by this channel: ping, webhook, smtp or exec
help-migrate = Create or migrate the database, and end
help-migrate--rehearse = Run the pending migrations on a copy beside a running service: what they change, how long they take, whom they keep waiting, which rows are there afterwards. Nothing of the database changes
help-migrate--no_backup = Make no backup before migrating (SQLite)
help-backup = Copy the database while the service runs, into a new folder (SQLite)
help-backup--path = The folder, which must not exist [default: backups/espelho-TIME beside the database]
help-backup--next_within = For a timer: an alarm if no other backup has succeeded within this time (36h, 8d); 0h ends that
help-backup-verify = Restore a backup into a place of its own, check it there, and remove that again
help-backup-verify--path = The backup [default: the newest in backups beside the database]
help-backup-verify--next_within = For a timer: an alarm if no other proof has succeeded within this time (36h, 8d); 0h ends that
help-restore = Put a backup in the place of the database, or where there is none (SQLite); the service must not run
help-restore--path = The folder that espelho backup has made
help-restore--replace = Also where there is a database; its files are kept beside it
help-prune = Delete now what the service deletes by itself (handled deliveries, settled effects, void label files, and what [retention] limits), and say how much goes
help-prune--older_than = Keep records at least this long, if the service's limits are shorter, and delete rows of the change feed of this age that every consumer has acknowledged: 1d, 90d; at least a day
help-prune--dry_run = Count, and delete nothing
help-status = How everything is: what is late, what failed, why, and what to do; ends with 0 only when all is well, with 2 for a mistake in the configuration, else with 3
help-status--store = Only this store, with its data, budget and sweeps
help-status--watch = Show it anew every two seconds, until Ctrl-C
help-status--alive = Ask only whether the service answers and nothing in it hangs, as a health check does: ends with 0 or 1, whatever the alarms are (2 where espelho.toml cannot be read)
help-errors = What failed, is held, in doubt or waits, by cause, with the next step
help-errors--all = Every row, not only the causes
help-explain = The story of one thing in order of time: deliveries, mirror, what the ERP wants, each call with its proof
help-explain--entity = What kind of thing, as in the change feed: order, product, shipment…
help-explain--key = Which one, as in the change feed
help-get = Show a mirrored row with everything that belongs to it
help-get-order = An order: status, amounts, deadlines, lines, shipments, fiscal documents; --json gives every column with the object as received
help-get-order--store = The store, where several have an order of this number
help-held = What guards hold, with the reason
help-release = Let what guards hold pass, once
help-retry = Try again what failed, is in doubt or was ignored
help-ignore = Leave a row alone that failed, is held or is still in the queue, or end one in doubt that had its effect: nothing more is sent; espelho retry brings it back
help-forget = Erase a person from everything that the mirror keeps (LGPD), and remember it, so that no later reading brings the person back; amounts, lines and fiscal numbers stay
help-forget--person = An e-mail, a CPF or CNPJ, a customer id, or the number of one of the person's orders
help-forget--everyone = Everybody in the store that --store names
help-forget--yes = With --everyone: do not ask
help-forget--dry_run = Count what would be erased; change nothing
help-plan = What would be sent to the marketplace now: every call, with its cost
help-plan--apply = Do it, and end; the service must not run
help-stock = Write a wanted stock, or a movement
help-stock-set = The stock is so much (erp_stock)
help-stock-set--quantity = How much
help-stock-adjust = The stock is so much more, or less (command stock.adjust)
help-stock-adjust--delta = How much more; below zero, less
help-price = Write a wanted price
help-price-set = A unit costs so much (erp_prices)
help-price-set--price = How much
help-price-set--min_quantity = From this quantity on
help-orders = Give a command about an order
help-orders-advance = Move an order to another status (command order.status)
help-orders-advance--status = The status to move it to
help-orders-advance--data = What the status wants, as JSON
help-orders-notes = Replace an order's notes (command order.notes)
help-orders-notes--text = The text; an empty one clears them
help-labels = Give a command about labels
help-labels-generate = Have an order's labels made (command labels.generate)
help-labels-generate--format = a4, zebra, thermal or zebra_pdf
help-labels-generate--regenerate = Also where there are some, which are discarded
help-campaigns = Give a command about a campaign
help-campaigns-join = Join a campaign with listings (command campaign.opt_in)
help-campaigns-join--campaign = campaigns.id
help-campaigns-join--listings = campaign_listings.item_id
help-import = Write what a CSV file says: all of it, or nothing
help-import--kind = What it holds
help-import--file = The file; its first line names the columns
help-grants = Print the SQL that lets a PostgreSQL role of the ERP read the mirror and write what it wants, and nothing else
help-grants--role = The role
help-feed = The change feed, one JSON object a line
help-feed--consumer = Tell what the reader of this name has not acknowledged; without it, everything that there is
help-feed--follow = Wait for more
help-feed--ack = Note that everything up to this number (1 or more) is dealt with, and tell nothing
help-feed--limit = Tell so many at most (1 or more)
help-audit = Compare mirror and marketplace, and change neither; ends with 3 when something differs
help-audit--only = Only these, separated by commas: orders (with their sub-resources), products, campaigns (with their listings), media_images, price_lists, profile
help-audit--sample = Details of each resource that are read and compared; the listings are compared in full
help-completions = Print completions for a shell
help-completions--shell = The shell
help-man = Show the manual page of espelho, or of a command
help-man--topic = The command
help-man--dir = Write all pages into this folder, as packages want them
help-help = Print the help of a command

help-heading-one-shot-reconciliation = One-shot reconciliation
help-heading-serving = Serving
help-heading-what-there-is = What there is
help-heading-request-limit = Request limit
help-heading-where-the-api-document-leaves-a-choice = Where the API document leaves a choice
help-heading-commands = Commands
help-heading-options = Options
help-heading-arguments = Arguments
help-heading-usage = Usage:
help-heading-command-name = COMMAND
help-heading-options-name = OPTIONS
help-heading-default = default
help-heading-values = possible values

help-name-addr = ADDR
help-name-campaign = CAMPAIGN
help-name-channel = CHANNEL
help-name-code = CODE
help-name-command = COMMAND
help-name-date = DATE
help-name-delivery = DELIVERY
help-name-delta = DELTA
help-name-dir = DIR
help-name-entity = ENTITY
help-name-event = EVENT
help-name-file = FILE
help-name-format = FORMAT
help-name-key = KEY
help-name-kind = KIND
help-name-lang = LANG
help-name-listings = LISTINGS
help-name-location = LOCATION
help-name-name = NAME
help-name-number = NUMBER
help-name-part = PART
help-name-path = PATH
help-name-person = PERSON
help-name-price = PRICE
help-name-quantity = QUANTITY
help-name-resource = RESOURCE
help-name-seconds = SECONDS
help-name-seq = SEQ
help-name-span = SPAN
help-name-state = STATE
help-name-status = STATUS
help-name-store = KEY
help-name-text = TEXT
help-name-time = TIME
help-name-user = USER

help-exit-codes = Exit codes: 0 complete, 1 failed, 2 bad usage or configuration, 3 partial, 4 authentication, 5 refused by a guard, 6 another instance holds the store, 130 ended at once by a second signal.
help-doctor-exit-codes =
    Exit codes:
      0  nothing is red, and all that is configured could be checked
      1  something is red
      2  the configuration is missing or wrong, or the command line is
      3  nothing is red, and something configured could not be checked
      4  only credentials are red

    Yellow works; what is not configured, or does not exist yet, does not count. A password that an earlier login proved counts as checked; to test it now: espelho doctor --login

help-unknown-argument = unknown argument: { $argument }{ $similar ->
        [none] {""}
       *[other] ; similar: { $similar }
    }
    .next = { $help }
help-unknown-command = unknown command: { $name }{ $similar ->
        [none] {""}
       *[other] ; similar: { $similar }
    }
    .next = { $help }
help-not-among = “{ $value }” is no value of { $argument }; it takes: { $known }
    .next = { $help }
help-wrong-value = “{ $value }” does not fit { $argument }: { $why }
    .next = { $help }
help-value-missing = the value of { $argument } is missing
    .next = { $help }
help-value-surplus = “{ $value }” is one value too many for { $argument }
    .next = { $help }
help-argument-missing = missing: { $arguments }
    .next = { $help }
help-conflict = { $argument } does not go together with { $other }
    .next = { $help }
help-command-missing = the command is missing
    .next = { $help }
help-sandbox-guide =
    Examples:
      espelho sandbox                              one store, 200 orders, 60 products, until Ctrl-C
      espelho sandbox --control                    the same, and everything about it can be changed while it runs
      espelho sandbox --stores 3 --orders 5000     three stores of 5,000 orders each
      espelho sandbox --olist DIR                  99,441 real orders
      espelho sandbox --rate off --json            no request limit; the credentials as JSON on stdout

    Where to look:
      http://127.0.0.1:8799/                a page with the credentials, first commands and every control endpoint
      http://127.0.0.1:8799/openapi.json    the description of every route, for tools
      http://127.0.0.1:8799/_sandbox/       the list of control endpoints, with --control
help--login = Prove the passwords too: one login for each store, which ends its token and gives it a new one
help--new = Create a new one also where another place has one already: the working directory, or /var/lib/espelho
help--yes = Do not ask
help--ignored = With --all: what was ignored instead of what failed; a command in doubt is brought back by its number only
help--wait = Wait for what becomes of it, also where stdout is no terminal: up to so many seconds (1 to 3600), or 5
help--no_wait = Do not wait, also on a terminal
help--code = Only this cause
help--first = What kind of thing, as in the change feed: order, product, shipment…; left out, everything that bears the KEY is told
help--second = Which one: an order's number, a SKU, a command's number, a shipment's id
help-pause = Stop the service's own work for a while: all of it, or a part. Deliveries are received and kept, and everything is made up afterwards
help-pause--store = Only this store (repeatable); left out, all
help-pause--only = Only this part: push (sending), pull (sweeps and reconciliations), webhooks (deliveries are kept, not worked on), stock, prices or commands
help-pause--span = For how long: 90s, 30m, 2h, 1d; 30 days at most
help-resume = End pauses; what waited is made up at once
help-resume--store = Only this store (repeatable); left out, all
help-ignore--state = With --all: failed or held; what failed and what a guard holds are decided apart
help-resume--only = Only pauses of this part
help-release--code = With --all: only rows of this cause, as in espelho errors
help-retry--code = With --all: only rows of this cause, as in espelho errors
help-ignore--code = With --all: only rows of this cause, as in espelho errors
