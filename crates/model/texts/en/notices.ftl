# Messages to people about alarms.

notice-title-failing = [espelho] FAILURE: { $what }
notice-title-warning = [espelho] WARNING: { $what }
notice-title-ended = [espelho] OVER: { $what }
notice-title-test = [espelho] TEST: messages about alarms arrive
notice-of-store = { $store }: { $what }
notice-of-stores = { $count } stores: { $what }
notice-several = { $count } alarms; the first: { $text }
notice-code = { $code }
notice-ended = Over since { $at }, after { $span }. It was: { $text }
notice-test = This message tries the way by { $channel }; { $host } sent it. Nothing is wrong.
    .next = nothing: alarms come the same way
notice-next = What to do: { $next }
notice-since = Since: { $since }
notice-stores = Stores: { $stores }
notice-stores-more = Stores: { $stores } and { $more } more
notice-sender = espelho on { $host }, alarm { $code }

# espelho notice test.
notice-test-sent = { $channel }: sent ({ $answer })
notice-test-failed = { $channel }: not sent: “{ $error }”
    .next = correct [notices.{ $channel }] in espelho.toml or what receives the messages
notice-test-none = no channel is configured by which people hear of alarms
    .next = write [notices.webhook], [notices.smtp], [notices.exec] or [notices.ping] into espelho.toml; the file itself explains them
notice-test-absent = [notices.{ $channel }] is not configured
    .next = write it into espelho.toml; the file itself explains it
