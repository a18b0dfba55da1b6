# The demonstration: what it shows to somebody who sees espelho for the first time.

demo-marketplace = Toy marketplace (sandbox): { $address }
demo-folder = Configuration and database: { $folder }
demo-page = Page: { $address }
    .next = Look at the store's orders: every { $seconds } s the marketplace sells something, and the number rises here and there.
demo-terminal = In another terminal: { $command }
demo-end = Ctrl-C ends the demonstration and removes its passwords.
demo-kept = Kept on the disk: { $database }. The demonstration's passwords are removed.
demo-removed = Removed: { $folder }, with all that was in it. To keep the database: --dir DIR.
demo-mirrored = Mirrored into { $database }
demo-ask = Ask your own: { $command }
demo-nothing = (nothing)
demo-open = What is open, and how much is it worth?
demo-blocking = What blocks dispatch?
demo-running-out = What is running out?
demo-head-status = status
demo-head-orders = orders
demo-head-total = total (R$)
demo-head-order = order
demo-head-sku = SKU
demo-head-quantity = quantity
demo-head-stock-status = stock status
demo-head-location = location
demo-head-available = available
demo-head-price = price (R$)
