# Avisos de alarmes para pessoas.

notice-title-failing = [espelho] FALHA: { $what }
notice-title-warning = [espelho] AVISO: { $what }
notice-title-ended = [espelho] RESOLVIDO: { $what }
notice-title-test = [espelho] TESTE: os avisos de alarmes chegam
notice-of-store = { $store }: { $what }
notice-of-stores = { $count } lojas: { $what }
notice-several = { $count } alarmes; o primeiro: { $text }
notice-code = { $code }
notice-ended = Acabou em { $at }, depois de { $span }. Era: { $text }
notice-test = Esta mensagem testa o caminho por { $channel }; quem enviou foi { $host }. Não há nada errado.
    .next = nada: os alarmes vêm pelo mesmo caminho
notice-next = O que fazer: { $next }
notice-since = Desde: { $since }
notice-stores = Lojas: { $stores }
notice-stores-more = Lojas: { $stores } e mais { $more }
notice-sender = espelho em { $host }, alarme { $code }

# espelho notice test.
notice-test-sent = { $channel }: enviado ({ $answer })
notice-test-failed = { $channel }: não enviado: “{ $error }”
    .next = corrija [notices.{ $channel }] em espelho.toml ou o que recebe os avisos
notice-test-none = nenhum canal está configurado para avisar pessoas dos alarmes
    .next = escreva [notices.webhook], [notices.smtp], [notices.exec] ou [notices.ping] em espelho.toml; o próprio arquivo explica
notice-test-absent = [notices.{ $channel }] não está configurado
    .next = escreva-o em espelho.toml; o próprio arquivo explica
