# O progresso de espelho --resync.

progress-resumed = continua depois de { $rows } linhas
progress-limit = limite { $limit }/min: faltam ~{ $seconds }
progress-left = faltam ~{ $seconds }
progress-rows = { $done } linhas
progress-of = { $done } de { $total } linhas ({ $percent } %)
progress-of-left = { $done } de { $total } linhas ({ $percent } %), { $left }
