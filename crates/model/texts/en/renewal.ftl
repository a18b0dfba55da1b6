# Whether the page renews itself; `.next` is the link to the other.

renewal-renews = This page renews itself every { $seconds } s.
    .next = Pause
renewal-paused = This page is paused.
    .next = Go on
