# espelho errors: by cause, the most frequent first.

errors-none = no errors
errors-no-rows = no row is in error
errors-problems-title = problems that are not about one row (espelho status):
errors-cause = { $count } × { $title } ({ $code }): { $names }
errors-cause-more = { $count } × { $title } ({ $code }): { $names } … and { $more } more
errors-next-step-of = next step of { $name }: { $step }
errors-or-give-up = { $step } (to be rid of it for good: { $ignore })
errors-or-delete = { $step } (to be rid of { $count ->
        [1] it for good, delete it
       *[other] them for good, delete them
    } from { $tables }, or: { $ignore })
errors-each = each row: { $see_all }
errors-waiting-title = waiting (goes on by itself):
errors-waiting = { $line }; for { $age }

# The name of a cause whose rows differ in words.
errors-code-shared-sku = SKU of two products
errors-code-unknown-sku = unknown SKU
errors-code-unknown-location = unknown location
errors-code-unknown-store = unknown store
errors-code-invalid-data = invalid value
errors-code-unreadable = unreadable row
errors-code-price-zero = price of zero
errors-code-price-floor = price below the floor
errors-code-price-jump = price changes too much at once
errors-code-price-rule = price tiers not allowed
errors-code-oversold = sold beyond the stock
errors-code-stock-conflict = the level changed at the marketplace
errors-code-many-to-zero = too many levels to zero at once
errors-code-impossible-transition = impossible change of status
errors-code-gave-up = tried many times without effect
errors-code-unprovable = sent, and nothing proves what happened
errors-code-not-found = not at the marketplace
errors-code-waiting-invoice = waits for the NF-e
errors-code-too-little-stock = more taken than in stock
errors-code-not-enrolled = opt-in accepted, and not shown
errors-code-notes-conflict = notes changed at the marketplace
errors-code-sku-exists = SKU exists already
errors-code-too-late-to-cancel = too late to cancel
errors-code-campaign-closed = opt-in to the campaign is over
errors-code-campaign-price-fell = campaign price fell
errors-code-unknown-kind = unknown command
errors-code-validation-error = data refused by the marketplace
errors-code-written-back = price that is always written back
errors-code-address-expired = expired address of a file
errors-code-address-refused = refused address of a file
errors-code-aimless = webhook that does not say what it is about
errors-code-automatic = done by the marketplace itself
errors-code-campaign-price = price frozen in a campaign
errors-code-database = refused by the database
errors-code-disk = label file cannot be written
errors-code-disk-full = disk full
errors-code-foreign-login = another program uses the credential
errors-code-foreign-store = delivery of another store
errors-code-incomplete = listings of a campaign without an end
errors-code-interrupted = answer cut short
errors-code-label-files-awaited = label files on their way
errors-code-label-files-missing = label files did not come
errors-code-label-format-off = label format is off
errors-code-labels-being-made = labels are being made
errors-code-labels-blocked = labels are blocked
errors-code-labels-not-ready = labels did not get ready
errors-code-labels-would-be-discarded = ready labels would be discarded
errors-code-login-failed = login without a readable answer
errors-code-login-limited = too many logins
errors-code-login-refused = login refused
errors-code-many-listings = too many listings in an hour
errors-code-no-id = created, without an id in the answer
errors-code-no-shipment = without a shipment
errors-code-not-a-label = file that is no label
errors-code-not-as-sent = accepted, and shown otherwise
errors-code-not-asked = not read yet
errors-code-panicked = a part of espelho failed
errors-code-poisoned = set aside after a failure of espelho
errors-code-policy-dry = opt-in to a campaign awaits a decision
errors-code-reading-behind = reading from before the last change
errors-code-restored = from before a restored backup
errors-code-setup = connection that cannot be set up
errors-code-tier-held = another tier is held
errors-code-tier-invalid = another tier is invalid
errors-code-tier-refused = another tier was refused
errors-code-too-large = too large
errors-code-unexpected = answer outside the documentation
errors-code-unreachable = marketplace does not answer
errors-code-unwritable = row that the database cannot keep

# The marketplace's codes, and the numbers of its answers, are many.
errors-refused = refused by the marketplace
errors-http = the marketplace answered { $status }
errors-http-of-file = the file server answered { $status }
