# Words for statuses, states and names; what the catalogue lacks is shown as it came.

words-other = { $word }
words-quoted = “{ $said }”
words-with-code = { $word } ({ $code })

words-order-waiting-payment = Waiting for payment
words-order-paid = Paid
words-order-preparing = In preparation
words-order-ready-to-ship = Ready to ship
words-order-shipped = Shipped
words-order-delivered = Delivered
words-order-cancelled = Cancelled
words-order-completed = Completed
words-order-payment-expired = Payment expired
words-order-ready-for-pickup = Ready for pick-up
words-order-picked-up = Picked up
words-order-pickup-expired = Pick-up expired
words-order-awaiting-campaign-conclusion = Waiting for the campaign
words-order-awaiting-availability = Waiting for availability
words-order-available = Available
words-order-awaiting-restock = Waiting for restock
words-order-restocked = Restocked
words-order-production-started = Production started
words-order-awaiting-materials = Waiting for materials
words-order-production-in-progress = In production
words-order-production-finished = Production finished

words-shipment-pending = Pending
words-shipment-processing = Processing
words-shipment-ready-to-ship = Ready to ship
words-shipment-in-transit = In transit
words-shipment-delivered = Delivered
words-shipment-cancelled = Cancelled
words-shipment-return-in-progress = Return in progress
words-shipment-returned = Returned
words-shipment-awaiting-return = Waiting for return
words-shipment-failed = Not delivered
words-shipment-error = With an error

words-run-complete = complete
words-run-partial = partial
words-run-failed = failed
words-run-running = running
words-run-interrupted = interrupted

words-push-new = new
words-push-waiting = waiting
words-push-sending = sending
words-push-done = done
words-push-failed = failed
words-push-held = held
words-push-doubtful = doubtful
words-push-ignored = ignored
words-push-superseded = superseded

words-resource-orders = orders
words-resource-products = products
words-resource-shipments = shipments
words-resource-campaigns = campaigns
words-resource-media-images = images
words-resource-price-lists = price lists
words-resource-profile = store profile
words-resource-labels = labels
words-resource-stock-locations = stock locations
words-resource-listings = listings
words-resource-occurrences = occurrences
words-resource-conversations = conversations

words-entity-order = order
words-entity-product = product
words-entity-shipment = shipment
words-entity-shipment-label = label
words-entity-campaign = campaign
words-entity-campaign-listing = campaign listing
words-entity-media-image = image
words-entity-price-list = price list
words-entity-listing = listing
words-entity-occurrence = occurrence
words-entity-conversation = conversation
words-entity-conversation-message = message
words-entity-store-profile = store profile
words-entity-stock-location = stock location
words-entity-delivery = webhook delivery
words-entity-webhook = webhook
words-entity-stock = stock
words-entity-price = price
words-entity-command = command
words-entity-orders = order
words-entity-products = product

words-lane-interactive = urgent
words-lane-refresh = webhook hints
words-lane-push = pushes
words-lane-poll = sweeps
words-lane-backfill = reconciliation

words-sweep-new-orders = New orders
words-sweep-open-orders = Open orders
words-sweep-sold-products = Sold products
words-sweep-aged-products = Products, in rotation
words-sweep-parts = Details of orders
words-sweep-aged-orders = Orders by age
words-sweep-counts = Counts
words-sweep-campaigns = Campaigns
words-sweep-media = Images
words-sweep-profile = Store profile
words-sweep-enums = Marketplace statuses
words-sweep-webhook-test = Webhook test
words-resource-open-orders = open orders
words-resource-campaign-listings = campaign listings
words-resource-tracking = tracking
words-resource-invoices = invoices
words-resource-events = timelines
words-resource-financial = financial data
word-pause-all = everything
word-pause-push = sending
word-pause-pull = reading
word-pause-webhooks = deliveries
word-pause-stock = stock
word-pause-prices = prices
word-pause-commands = commands

# A command's request: a verb, to which its key is added; and the fields of its data.
words-command-order-status = move the order
words-command-order-notes = replace the notes of the order
words-command-labels-generate = generate the labels of the order
words-command-campaign-opt-in = join the campaign
words-command-price-list-create = create a price list
words-command-price-list-update = change the price list
words-command-price-lists-settings = switch the price lists on or off
words-command-product-create = create the product
words-command-product-update = change the product
words-command-stock-adjust = adjust the stock of
words-command-price-delete-tier = delete a price tier of
words-command-media-upload = upload the image
words-command-gallery-add = add an image to the gallery of
words-command-listing-create = create the listing
words-command-listing-publish = publish the listing
words-command-store-page-update = change the store's page
words-command-webhook-test = ask for a test delivery

words-field-data = data
words-field-delta = difference
words-field-format = format
words-field-image-id = image
words-field-is-active = active
words-field-location-id = location
words-field-min-quantity = minimum quantity
words-field-mode = mode
words-field-name = name
words-field-notes = notes
words-field-path = file
words-field-position = position
words-field-price-lists-enabled = price lists
words-field-publication-ids = listings
words-field-status = status

# The marketplace's words on an order: workflow, channel, delivery and payment.
words-workflow-standard = standard
words-workflow-production = production
words-workflow-in-store-pickup = in-store pickup
words-workflow-pre-order = pre-order
words-workflow-backorder = backorder
words-workflow-collective = collective buying

words-channel-marketplace = marketplace
words-channel-direct = direct sale
words-channel-store-seller = store seller

words-delivery-shipping = shipping
words-delivery-pickup = pickup

words-payment-method-credit-card = credit card
words-payment-method-debit-card = debit card
words-payment-method-boleto = boleto
words-payment-method-pix = Pix
words-payment-method-voucher = voucher

words-payment-pending = pending
words-payment-approved = approved
words-payment-refunded = refunded
words-payment-expired = expired
words-payment-cancelled = cancelled
words-payment-refused = refused
