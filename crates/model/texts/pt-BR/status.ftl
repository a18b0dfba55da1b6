# `espelho status` e a página.

status-ok = tudo em dia
status-unknown = sem prova recente de que tudo funciona
status-not-alive = nenhum serviço em ordem responde em { $address }: { $cause }
status-token-refused = recusado
status-problems = { $count ->
    [1] 1 problema
   *[other] { $count } problemas
}
status-warnings = { $count ->
    [1] 1 aviso
   *[other] { $count } avisos
}
status-running = em execução há { $span }
status-stopped = serviço parado
status-other-installation = Em { $address } responde o espelho de outra instalação, com outro banco de dados.
    .next = escreva outro endereço em http.listen no espelho.toml; depois: sudo systemctl start espelho
status-first-reading = { $store }, primeira leitura, { $resource }: { $progress }
status-proof-marketplace = marketplace respondeu há { $span }
status-proof-database = banco gravou há { $span }
status-proof-webhook = webhook há { $span }
status-no-proof = sem prova recente
status-next = próximo passo: { $step }
status-since = desde { $time }
status-more-alarms = … e mais { $count } avisos (espelho status --json)
status-more-stores = … e mais { $count } lojas (--store LOJA, --json)
status-never = nunca
status-ago = há { $span }
status-stores = Lojas
status-store = Loja
status-state = Estado
status-state-ok = em dia
status-state-failing = falha
status-state-warning = aviso
status-state-unknown = sem prova
status-last-run = Última conciliação
status-run-figures = { $seen } vistos, { $changed } mudados, { $failed } falhas
status-lag = Lido há
status-inbox = Webhooks
status-token = Token
status-budget = Limite
status-waiting-requests = Na fila
status-queue-rows = linhas do ERP { $count }
status-queue-long = { $count ->
    [1] 1 linha do ERP espera há { $span }
   *[other] { $count } linhas do ERP esperam, a mais antiga há { $span }
}
    .next = espelho plan
status-data = Dados
status-here = Aqui
status-counted = Contagem: aqui / lá
status-counted-at = há { $span }
status-not-counted = ainda não contado
status-read = Lido há
status-audit = Auditoria: diferem
status-audit-cell = { $differing } de { $compared }, há { $span }
status-errors = Erros
status-erp = O que o ERP pede
status-table = Tabela
status-open = Abertas
status-oldest = A mais antiga há
status-failed = Falhas
status-held = Retidas
status-doubtful = Em dúvida
status-step = Próximo passo
status-budget-title = Limite de chamadas
status-budget-line = { $held } de { $per_minute } por minuto em uso; { $free } livres
status-sweeps = Leituras periódicas
status-sweep = Leitura
status-every = A cada
status-per-minute = Chamadas/min
status-next-in = Próxima em
status-failure = Falha
status-rarer = mais rara
status-total = Total
status-webhook-line = Último webhook: { $heard }. Último teste recebido: { $test }.
status-tables = Tabelas
status-live = Vivos
status-rows-counted = Linhas contadas há { $span }, salvo as de uma comparação mais nova.
status-gone = Ausentes
status-changed = Mudou há
status-process = { $program } (processo { $id } em { $machine })
status-holder-held = nas mãos de { $owner } há { $span }
status-holder-free = livre; antes nas mãos de { $owner }, há { $span }
status-holder-unknown = por último nas mãos de { $owner }, há { $span }
status-unknown-store = Não há loja { $store }.
status-all-stores = Todas as lojas
status-refresh = Atualizar
status-as-of = Situação de { $time }
status-page-title-ok = ✓ espelho: tudo em dia
status-page-title-failing = ✗ espelho: { $count } com problema
status-page-title-unknown = – espelho: sem prova de que tudo funciona
status-local-time = horário de { $zone }
status-more-rows = e mais { $count }

# Ao lado de uma configuração com engano
status-beside-mistakes = O serviço em { $address } responde e continua com a configuração que leu antes deste engano:
status-none-beside-mistakes = Em { $address } não responde nenhum serviço desta instalação; um que rode em outro endereço continua com a configuração que leu antes deste engano.
