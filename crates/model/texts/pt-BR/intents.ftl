# O que veio de um pedido escrito pela linha de comando (espelho stock, price, orders, labels, campaigns, import).

intents-at = { $sku } @ { $location }
intents-sku = { $sku }
intents-order = pedido { $order }
intents-campaign = campanha { $campaign }
intents-file = { $rows ->
    [1] arquivo de { $rows } linha
   *[other] arquivo de { $rows } linhas
}

intents-level-done = { $sku } @ { $location }: { $before } → { $after }
intents-level-is = { $sku } @ { $location }: { $after }
intents-movement-done = { $sku } @ { $location }: { $sign }{ $delta }
intents-price-done = { $from ->
    [1] { $sku }: { $before } → { $after }
   *[other] { $sku } a partir de { $from }: { $before } → { $after }
}
intents-price-is = { $from ->
    [1] { $sku }: { $after }
   *[other] { $sku } a partir de { $from }: { $after }
}
intents-status-done = pedido { $order }: { $status }
intents-notes-done = pedido { $order }: observações gravadas
intents-labels-done = pedido { $order }: etiquetas prontas
intents-campaign-done = { $listings ->
    [1] campanha { $campaign }: { $listings } anúncio participa
   *[other] campanha { $campaign }: { $listings } anúncios participam
}
intents-test-delivery = entrega de teste
intents-test-delivery-done = o marketplace aceitou mandar uma entrega de teste; isto ainda não prova que ela chega
    .next = veja-a na página /webhooks, ou com espelho doctor
intents-test-delivery-not-awaited = entrega de teste: pedido gravado, comando { $command }; a chegada dela não foi esperada
    .next = para saber depois se chegou: espelho explain command { $command }. Para esperar por ela: espelho webhook test --wait=20
intents-test-delivery-arrived = a entrega de teste chegou, com assinatura válida
intents-test-delivery-refused = chegou uma entrega, mas a assinatura dela foi recusada: é de um segredo desconhecido
    .next = compare o segredo do webhook no portal do vendedor com o de webhook.secret_file; sem esse arquivo, apague o webhook no portal e reinicie o serviço: ele o faz de novo. Se o próximo teste chegar, quem postou era um estranho
intents-test-delivery-missing = o marketplace aceitou mandar a entrega de teste, mas ela ainda não chegou
    .next = espelho doctor mostra o endereço e o receptor; se os dois estão verdes, o histórico de entregas do webhook, no portal do vendedor, diz o que cada tentativa encontrou (outro endereço, proxy, firewall)
intents-rows-written = { $rows ->
    [1] { $rows } linha gravada
   *[other] { $rows } linhas gravadas
}
intents-rows = { $rows ->
    [1] { $rows } linha
   *[other] { $rows } linhas
}: { $done ->
    [1] { $done } feita
   *[other] { $done } feitas
}, { $open } a caminho
intents-rows-refused = { $rows ->
    [1] { $rows } linha
   *[other] { $rows } linhas
}: { $done ->
    [1] { $done } feita
   *[other] { $done } feitas
}, { $open } a caminho, { $refused ->
    [1] { $refused } não feita
   *[other] { $refused } não feitas
}
    .next = próximo passo: espelho errors

intents-written = { $subject }: gravado
intents-command-written = { $subject }: gravado, comando { $command }
intents-service-stopped = { $subject }: gravado; o serviço está parado
    .next = sudo systemctl start espelho
intents-under-way = { $subject }: gravado; ainda a caminho, continua sozinho
intents-delayed = { $told }. { $cause }
intents-waiting-invoice = { $subject }: espera NF-e; continua sozinho
intents-waiting = { $subject }: espera: { $reason }; continua sozinho
intents-failed = { $subject }: { $reason }
intents-held = { $subject }: retido: { $reason }
intents-doubtful = { $subject }: em dúvida: { $reason }
intents-ignored = { $subject }: ignorado por alguém
intents-superseded = { $subject }: outro registro tomou o lugar deste
intents-next-step = próximo passo: { $step }

# O que é recusado antes de ser gravado.
intents-unknown-sku = SKU desconhecido: { $sku }
    .next = nada foi gravado; confira o SKU no marketplace
intents-unknown-sku-similar = SKU desconhecido: { $sku }; parecidos: { $similar }
    .next = nada foi gravado; escreva o SKU como a loja o tem
intents-unknown-location = local desconhecido: { $location }
    .next = nada foi gravado; a loja tem: { $known }
intents-negative-quantity = o estoque não pode ser { $quantity }
    .next = nada foi gravado; escreva 0 ou mais, ou espelho stock adjust para tirar peças
intents-no-movement = um movimento de 0 não muda nada
    .next = nada foi gravado; escreva quanto entra (2) ou sai (-2)
intents-half-a-unit = { $quantity } não é possível: o produto é vendido por { $unit }, inteiro
    .next = nada foi gravado; escreva um número inteiro
intents-negative-price = o preço não pode ser { $price }
    .next = nada foi gravado; escreva um preço acima de 0
intents-no-min-quantity = a quantidade mínima é 1 ou mais
    .next = nada foi gravado; corrija --min-quantity
intents-unknown-status = nenhum pedido pode ir para { $status }; o mais parecido é { $nearest }
    .next = nada foi gravado; situações: { $known }
intents-unknown-format = não há etiqueta no formato { $format }; o mais parecido é { $nearest }
    .next = nada foi gravado; formatos: { $known }
intents-no-number = { $text } não é um número
    .next = nada foi gravado; escreva assim: 1990 ou 1,99
intents-ambiguous = { $text } pode ser { $thousands } ou { $decimals }
    .next = nada foi gravado; escreva { $plain } ou { $exact }
intents-ambiguous-question = { $text }: [1] { $thousands } ou [2] { $decimals }?
intents-no-json = --data não é JSON (linha { $line }, coluna { $column })
    .next = nada foi gravado; escreva assim: --data '{"{"}"tracking_code": "BR123"{"}"}'
intents-several-stores = há várias lojas: { $known }
    .next = nada foi gravado; escolha uma com --store
intents-no-file = { $file } não pode ser lido: { $problem }
    .next = nada foi importado
intents-bad-lines = { $file }: { $lines }
    .next = nada foi importado; corrija estas linhas e importe de novo

# Decisões: release, retry, ignore.
intents-decide-release = { $rows ->
    [1] Liberar { $rows } registro, uma vez? (s/n)
   *[other] Liberar { $rows } registros, uma vez? (s/n)
}
intents-decide-more = { $rows ->
    [1] … e mais { $rows } registro
   *[other] … e mais { $rows } registros
}
intents-decide-retry = { $rows ->
    [1] Tentar de novo { $rows } registro? (s/n)
   *[other] Tentar de novo { $rows } registros? (s/n)
}
intents-decide-ignore = { $rows ->
    [1] Ignorar { $rows } registro? (s/n)
   *[other] Ignorar { $rows } registros? (s/n)
}
intents-needs-yes = { $rows ->
    [1] { $rows } registro; nada foi decidido
   *[other] { $rows } registros; nada foi decidido
}
    .next = confirme com --yes
intents-released = { $rows ->
    [1] { $rows } registro liberado: volta à fila, e a proteção o deixa passar uma vez
   *[other] { $rows } registros liberados: voltam à fila, e a proteção deixa cada um passar uma vez
}
intents-retried = { $rows ->
    [1] { $rows } registro será tentado de novo
   *[other] { $rows } registros serão tentados de novo
}
intents-ignored-rows = { $rows ->
    [1] { $rows } registro ignorado
   *[other] { $rows } registros ignorados
}; para trazer de volta: { $back }
intents-ignored-group = { $rows ->
    [1] { $rows } registro ignorado
   *[other] { $rows } registros ignorados
}; para trazer de volta, com os que já estavam ignorados: { $back }
intents-nothing-to-decide = nada a decidir
intents-nothing-held = nada retido
intents-no-such-row = nenhum registro com esta chave está com erro, retido, em dúvida ou ignorado
    .next = use ENTIDADE e CHAVE como em espelho errors --all
intents-in-the-queue = este registro está na fila ({ $state }) e vai sozinho: não há o que decidir
    .next = para tirá-lo da fila (o que já saiu ainda pode valer): { $ignore }
intents-not-decidable = este registro está em “{ $state }”: não há o que decidir sobre ele
    .next = veja a história dele: { $see }
intents-release-ignored = este registro está ignorado: uma liberação não desfaz essa decisão
    .next = se ela mudou, traga-o de volta: { $back }; se a proteção o retiver de novo, ele pode ser liberado
intents-release-ignored-by = este registro foi ignorado por { $actor } em { $at }: uma liberação não desfaz essa decisão
    .next = se ela mudou, traga-o de volta: { $back }; se a proteção o retiver de novo, ele pode ser liberado

# espelho plan
intents-plan-nothing = { $store }: nada a enviar; nenhum registro do ERP espera
intents-plan-not-now = { $store }: nada será enviado agora
intents-plan-failed = { $rows ->
    [1] 1 registro com falha
   *[other] { $rows } registros com falha
}: { $step }
intents-plan-doubtful = { $rows ->
    [1] 1 registro em dúvida
   *[other] { $rows } registros em dúvida
}: { $step }
intents-plan-held = { $rows ->
    [1] 1 registro retido por uma proteção
   *[other] { $rows } registros retidos por uma proteção
}: { $step }
intents-plan-store = { $store }: { $rows ->
    [1] 1 registro do ERP espera
   *[other] { $rows } registros do ERP esperam
}; { $requests ->
    [0] nenhuma chamada ao marketplace será feita
    [1] 1 chamada ao marketplace, cerca de { $seconds }
   *[other] { $requests } chamadas ao marketplace, cerca de { $seconds }
}{ $kept ->
    [0] {""}
    [1] ; 1 registro não será enviado, pelo motivo entre parênteses
   *[other] ; { $kept } registros não serão enviados, pelo motivo entre parênteses
}
intents-plan-waits = { $entity } { $key }: espera: { $reason }
intents-plan-progress = { $done ->
    [1] { $done } feito
   *[other] { $done } feitos
}, { $open } a caminho, { $waiting ->
    [1] { $waiting } espera
   *[other] { $waiting } esperam
}
intents-plan-ended = { $open ->
    [1] { $open } aberto
   *[other] { $open } abertos
}, { $held ->
    [1] { $held } retido
   *[other] { $held } retidos
}, { $failed } com erro, do que estava planejado
intents-retry-only = O que foi separado só pode ser tentado de novo.
    .next = espelho retry ENTIDADE CHAVE
