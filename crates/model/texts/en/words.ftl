# Words for statuses, states and names; what the catalogue lacks is shown as it came.

words-other = { $word }
words-with-code = { $word } ({ $code })

words-order-waiting-payment = Waiting for payment
words-order-paid = Paid
words-order-preparing = Preparing
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
