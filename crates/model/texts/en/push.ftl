# What the mirror answers on the ERP's rows. The message says the cause; `.next` is the next step.

push-invalid = Invalid value: { $why }.
    .next = Correct the value: the mirror sends it again by itself.
push-unknown-kind = There is no command “{ $kind }”.
    .next = Use one of these: { $all }.
push-unreadable = There is text that is no UTF-8, or a value of another type.
    .next = Delete this row and write it again in UTF-8, with numbers as numbers.
push-too-large = The command has more than 1 MiB of data, or a kind or a key that is far too long.
    .next = Write it again with less: texts shorter, pictures as files.
push-key-too-long = The SKU, the location or the quantity is far too long: a SKU of the marketplace has at most 50 characters.
    .next = Delete this row and write it again with the SKU of the product.
push-gave-up = { $attempts } attempts, and none had a proven effect.
    .next = See how the marketplace is. Then: espelho retry { $row }
push-doubtful = It was sent, and nothing proves whether it had its effect.
    .next = Look in the portal. If it had none: espelho retry { $row }; if it had: espelho ignore { $row } (nothing more is sent)
push-set-aside = It may have had its effect. { $cause }
    .next = Send this line to whoever maintains espelho. Look in the portal. If it had no effect, after the correction: espelho retry { $row }; if it had: espelho ignore { $row } (nothing more is sent)
push-restored-command = A backup was put back, and nothing proves whether this was done since.
    .next = Look in the portal. If it was not done: espelho retry { $row }; if it was: espelho ignore { $row } (nothing more is sent)
push-restored-movement = A backup was put back, and nothing proves whether this movement has happened since.
    .next = Count the stock. Where it is missing: espelho retry { $row }; where it is in: espelho ignore { $row } (nothing more is sent)
push-restored-wish = A backup was put back: this value is of its time and may be out of date.
    .next = Write the current value now, even the same one: it is sent then. If all of them still hold: espelho retry --all --code restored --store { $store }
push-no-answer = It was sent, and the marketplace no longer says whether it had its effect: { $why }
    .next = Look in the portal. If it had none: espelho retry { $row }; if it had: espelho ignore { $row } (nothing more is sent)
push-unknown-sku = No product of this store has the SKU { $sku }.
    .next = Correct the row's SKU in erp_stock or erp_prices, or delete the row. If the product is still to be created, there is nothing to do: the row goes by itself.
push-shared-sku = Two products of this store have the SKU { $sku }: { $one } and { $other }. Nothing is sent while it is not known which of them is meant.
    .next = Give each a SKU of its own in the seller portal. If one of them no longer exists, there is nothing to do: the next complete reconciliation notices.
push-sku-awaited = No product of this store has the SKU { $sku } yet: the first reading has not ended, or the product is being created.
    .next = Nothing to do: it goes by itself when the product shows. If the SKU is wrong, correct it.
push-unknown-sku-command = No product of this store has the SKU { $sku }.
    .next = Check the SKU. If the product was created since: espelho retry { $row }; to give the command up: espelho ignore { $row }

# Stock
push-too-many-to-zero = { $zeroes } of { $above } stock levels would go to zero at once.
    .next = If that is not meant, correct what the ERP wrote; if it is, all at once: { $release_all }; only this one: espelho release { $row }
push-unknown-location = The store has no location { $location }.
    .next = SELECT location_id, name FROM stock_locations lists the locations of the store: correct location_id.
push-oversold = { $reserved } are reserved for buyers, and only { $quantity } are in stock.
    .next = Restock or cancel orders; then write the quantity again.
push-stock-conflict = { $wanted } was set, and the marketplace shows { $quantity } now: the level has changed there.
    .next = Check the stock and write the quantity again.
push-stock-unsent-conflict = The mirror showed { $wanted } already, and nothing was sent; the marketplace shows { $quantity }, and sales do not explain the difference.
    .next = Check the stock and write the quantity again.
push-too-little-stock = { $before } are in stock, and { $less } were to be taken.
    .next = Check the quantity and send another command.
push-reading-behind = The marketplace shows a quantity from before our last change of this stock.
    .next = Nothing to do: the movement waits until the change shows, two minutes at most.
push-movement-doubtful = The movement was sent, and nothing proves whether it happened.
    .next = Count the stock. Where it is missing: espelho retry { $row }; where it is in: espelho ignore { $row } (nothing more is sent)
push-movement-no-answer = The movement was sent, and the marketplace no longer says whether it happened: { $why }
    .next = Count the stock. Where it is missing: espelho retry { $row }; where it is in: espelho ignore { $row } (nothing more is sent)
push-movement-set-aside = The movement may have happened. { $cause }
    .next = Send this line to whoever maintains espelho. Count the stock. Where it is missing, after the correction: espelho retry { $row }; where it is in: espelho ignore { $row } (nothing more is sent)
push-movement-others = The movement of { $delta } was sent, and nothing proves whether it happened: { $before } before, { $after } now, and somebody else changed the stock in between.
    .next = Count the stock. Where it is missing: espelho retry { $row }; where it is in: espelho ignore { $row } (nothing more is sent)
push-movement-unclear = The movement of { $delta } was sent, and nothing proves whether it happened: { $before } before, { $after } now, { $sold } sold in between.
    .next = Count the stock. Where it is missing: espelho retry { $row }; where it is in: espelho ignore { $row } (nothing more is sent)

# Prices
push-price-rule = The wanted price tiers are not allowed (rule { $rule }): { $problem }.
    .next = Correct the tiers in erp_prices, or change the price type with product.update.
push-price-zero-and-rule = The marketplace shows a price of zero, and the wanted price tiers are not allowed (rule { $rule }): { $problem }.
    .next = Correct the price in the portal now, then the tiers in erp_prices.
push-price-shown-zero = The marketplace shows a price of zero after the wanted price was sent.
    .next = Write the price again now, or correct it in the portal.
push-price-not-as-sent = The marketplace took the prices and shows other ones (rounded?).
    .next = Compare in v_drift and write a price with fewer decimals.
push-tier-still-there = The marketplace took the removal of the price tier and still shows it.
    .next = Look at the product in the portal. To send it again: espelho retry { $row }
push-price-written-back = This price was sent 3 times within an hour, and goes back to another value each time.
    .next = See who else changes prices (portal, another system). To send it once more: espelho release { $row }
push-tier-invalid = Another tier of this product has an invalid value.
    .next = Correct the other tier: this one follows.
push-tier-refused = The marketplace refused the tier from { $tier } on: this one was not sent.
    .next = Correct the refused tier: this one follows.
push-tier-held = Another tier of this product is held.
    .next = Release or correct the other tier: this one follows.
push-price-zero = The price would be zero.
    .next = Write a price above zero.
push-price-zero-of = The price of { $sku } would be zero.
    .next = Write a price above zero.
push-price-floor-of = The price of { $sku }, { $price }, is below the floor { $floor }.
    .next = If that is not meant, correct erp_prices; if it is: espelho release { $row }
push-price-jump-of = The price of { $sku } would { $way ->
        [falls] fall
        [rises] rise
       *[other] change
    } by { $percent } % at once, to { $price }.
    .next = If that is not meant, correct erp_prices; if it is: espelho release { $row }

# Orders
push-impossible-transition = The order is “{ $current }” and cannot go to “{ $target }”.
    .next = From here it can go to: { $offered }.
push-no-transition = The order is “{ $current }” and cannot go to “{ $target }”: the marketplace offers no change now.
    .next = Look at the order in the portal: a newer status is read within a minute. If it is as it should be, give the command up: espelho ignore { $row }; if it can change later: espelho retry { $row }
push-too-late-to-cancel = Too late: a seller cancels before the preparation only.
    .next = Ask the marketplace to cancel it, in the portal.
push-too-late-to-cancel-from = Too late: the order is “{ $current }” already, and a seller cancels before the preparation only.
    .next = Ask the marketplace to cancel it, in the portal.
push-waiting-invoice = Waits for the invoice (NF-e) or the content declaration.
    .next = Issue it: when it shows, the mirror goes on by itself.
push-waiting-invoice-as-said = { $words ->
        [none] Waits for the invoice (NF-e) or the content declaration.
       *[other] Waits for the invoice (NF-e) or the content declaration. The marketplace says: “{ $words }”
    }
    .next = Issue it: when it shows, the mirror goes on by itself.
push-automatic = After the pick-up the marketplace marks the order as delivered by itself.
    .next = Nothing to do.
push-notes-conflict = Somebody has changed the notes on the marketplace, and theirs are kept.
    .next = Read orders.notes, join the texts and send another command with data.base as theirs.

# Labels
push-no-shipment = The order has no shipment yet.
    .next = Move the order on first. Then: espelho retry { $row }
push-labels-blocked = The marketplace blocks the labels of this shipment.
    .next = See the shipment in the portal.
push-labels-would-be-discarded = There are labels ready in another format, and making them again discards them.
    .next = If that is meant: espelho release { $row }, or a command with { $regenerate } in data.
push-labels-being-made = The marketplace is making the labels.
    .next = Nothing to do: it takes 5 to 20 seconds a shipment.
push-labels-failed = The marketplace could not make the labels.
    .next = To look again without making them again: espelho retry { $row }. To make them again: { $regenerate } in data.
push-labels-late = The labels were not ready within 2 minutes.
    .next = To look again without making them again: espelho retry { $row }. To make them again: { $regenerate } in data.

# Campaigns
push-campaign-over = The campaign is over or cancelled.
    .next = Nothing more to do in this campaign.
push-campaign-closed = The time to join is over, or is over in less than 5 minutes.
    .next = Nothing more to do in this campaign.
push-campaign-price-fell = In the campaign these would cost less by now than was agreed: { $listings }. Nothing was sent; no route leaves a campaign.
    .next = Compare their prices with data.lowest_prices. To join at today's prices: insert the command anew with today's lowest_prices.
push-not-enrolled = The marketplace took it and does not list: { $left }.
    .next = Check in campaign_listings that the listings are eligible, and send another command.
push-would-join = By the store's policy these would join campaign { $campaign }: { $listings ->
        [one] { $listings } listing
       *[other] { $listings } listings
    }.
    .next = Look at campaign_listings. To join: espelho release { $row }; to join always: join = "yes" in [campaigns].

# Products and listings
push-sku-exists = There is a product with the SKU { $sku } already.
    .next = Use product.update.
push-product-not-as-sent = The marketplace took the change and does not show it.
    .next = Look at the product in the portal.
push-listing-not-named = The listing was created, and the answer does not tell its item_id.
    .next = Publish it in the portal.
push-many-listings = More than { $most } listings created within an hour.
    .next = If that is meant: espelho release { $row }

# The preview (espelho plan)
push-plan-held = Held: { $why }
push-plan-nothing = Nothing to send if the marketplace shows what the mirror shows; without a reading of late, the level is read before.
push-plan-unless = Unless it is so already, or the marketplace does not allow it then.
push-plan-depends = What is sent depends on what is read then.
