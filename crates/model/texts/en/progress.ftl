# The progress of espelho --resync.

progress-resumed = going on after { $rows } rows
progress-limit = limit { $limit }/min: ~{ $seconds } left
progress-left = ~{ $seconds } left
progress-rows = { $done } rows
progress-of = { $done } of { $total } rows ({ $percent } %)
progress-of-left = { $done } of { $total } rows ({ $percent } %), { $left }
