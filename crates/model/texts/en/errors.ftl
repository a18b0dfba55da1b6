# espelho errors: by cause, the most frequent first.

errors-none = no errors
errors-no-rows = no row is in error
errors-problems-title = problems that are not about one row (espelho status):
errors-cause = { $count } × { $title } ({ $code }): { $names }
errors-cause-more = { $count } × { $title } ({ $code }): { $names } … and { $more } more
errors-next-step-of = next step of { $name }: { $step }
errors-or-give-up = { $step } To be rid of it for good: { $ignore }
errors-or-delete = { $step } To be rid of { $count ->
        [1] it for good, delete it
       *[other] them for good, delete them
    } from { $tables }, or: { $ignore }
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
errors-code-not-found = unknown to the marketplace
errors-code-waiting-invoice = waits for the NF-e
errors-code-too-little-stock = more taken than in stock
errors-code-not-enrolled = opt-in accepted, and not shown
errors-code-notes-conflict = notes changed at the marketplace
errors-code-sku-exists = SKU exists already
errors-code-too-late-to-cancel = too late to cancel
errors-code-campaign-closed = opt-in to the campaign is over
errors-code-campaign-price-fell = campaign price fell
errors-code-unknown-kind = unknown command
errors-code-validation-error = refused by the marketplace
errors-code-written-back = price that is always written back
