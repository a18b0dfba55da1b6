# O que veio de um pedido escrito pela linha de comando (espelho stock, price, orders, labels, campaigns, import).

wishes-at = { $sku } @ { $location }
wishes-sku = { $sku }
wishes-order = pedido { $order }
wishes-campaign = campanha { $campaign }
wishes-file = { $rows ->
    [1] arquivo de { $rows } linha
   *[other] arquivo de { $rows } linhas
}

wishes-level-done = { $sku } @ { $location }: { $before } → { $after }
wishes-level-is = { $sku } @ { $location }: { $after }
wishes-movement-done = { $sku } @ { $location }: { $sign }{ $delta }
wishes-price-done = { $from ->
    [1] { $sku }: { $before } → { $after }
   *[other] { $sku } a partir de { $from }: { $before } → { $after }
}
wishes-price-is = { $from ->
    [1] { $sku }: { $after }
   *[other] { $sku } a partir de { $from }: { $after }
}
wishes-status-done = pedido { $order }: { $status }
wishes-notes-done = pedido { $order }: observações gravadas
wishes-labels-done = pedido { $order }: etiquetas prontas
wishes-campaign-done = { $listings ->
    [1] campanha { $campaign }: { $listings } anúncio participa
   *[other] campanha { $campaign }: { $listings } anúncios participam
}
wishes-test-delivery = entrega de teste
wishes-test-delivery-done = o marketplace aceitou mandar uma entrega de teste; isto ainda não prova que ela chega
    .next = veja-a na página /webhooks, ou com espelho doctor
wishes-test-delivery-not-awaited = entrega de teste: pedido gravado, comando { $command }; a chegada dela não foi esperada
    .next = para saber depois se chegou: espelho explain command { $command }. Para esperar por ela: espelho webhook test --wait=20
wishes-test-delivery-arrived = a entrega de teste chegou, com assinatura válida
wishes-test-delivery-refused = chegou uma entrega, mas a assinatura dela foi recusada: é de um segredo desconhecido
    .next = compare o segredo do webhook no portal do vendedor com o de webhook.secret_file; sem esse arquivo, apague o webhook no portal e reinicie o serviço: ele o faz de novo. Se o próximo teste chegar, quem postou era um estranho
wishes-test-delivery-missing = o marketplace aceitou mandar a entrega de teste, mas ela ainda não chegou
    .next = veja o endereço e o caminho até esta máquina: espelho doctor
wishes-rows-written = { $rows ->
    [1] { $rows } linha gravada
   *[other] { $rows } linhas gravadas
}
wishes-rows = { $rows ->
    [1] { $rows } linha
   *[other] { $rows } linhas
}: { $done ->
    [1] { $done } feita
   *[other] { $done } feitas
}, { $open } a caminho
wishes-rows-refused = { $rows ->
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

wishes-written = { $subject }: gravado
wishes-command-written = { $subject }: gravado, comando { $command }
wishes-service-stopped = { $subject }: gravado; o serviço está parado
    .next = sudo systemctl start espelho
wishes-under-way = { $subject }: gravado; ainda a caminho, continua sozinho
wishes-waiting-invoice = { $subject }: espera NF-e; continua sozinho
wishes-waiting = { $subject }: espera: { $reason }; continua sozinho
wishes-failed = { $subject }: { $reason }
wishes-held = { $subject }: retido: { $reason }
wishes-doubtful = { $subject }: em dúvida: { $reason }
wishes-ignored = { $subject }: ignorado por alguém
wishes-superseded = { $subject }: outro registro tomou o lugar deste
wishes-next-step = próximo passo: { $step }

# O que é recusado antes de ser gravado.
wishes-unknown-sku = SKU desconhecido: { $sku }
    .next = nada foi gravado; confira o SKU no marketplace
wishes-unknown-sku-similar = SKU desconhecido: { $sku }; parecidos: { $similar }
    .next = nada foi gravado; escreva o SKU como a loja o tem
wishes-unknown-location = local desconhecido: { $location }
    .next = nada foi gravado; a loja tem: { $known }
wishes-negative-quantity = o estoque não pode ser { $quantity }
    .next = nada foi gravado; escreva 0 ou mais, ou espelho stock adjust para tirar peças
wishes-no-movement = um movimento de 0 não muda nada
    .next = nada foi gravado; escreva quanto entra (2) ou sai (-2)
wishes-half-a-unit = { $quantity } não é possível: o produto é vendido por { $unit }, inteiro
    .next = nada foi gravado; escreva um número inteiro
wishes-negative-price = o preço não pode ser { $price }
    .next = nada foi gravado; escreva um preço acima de 0
wishes-no-min-quantity = a quantidade mínima é 1 ou mais
    .next = nada foi gravado; corrija --min-quantity
wishes-unknown-status = nenhum pedido pode ir para { $status }; o mais parecido é { $nearest }
    .next = nada foi gravado; situações: { $known }
wishes-unknown-format = não há etiqueta no formato { $format }; o mais parecido é { $nearest }
    .next = nada foi gravado; formatos: { $known }
wishes-no-number = { $text } não é um número
    .next = nada foi gravado; escreva assim: 1990 ou 1,99
wishes-ambiguous = { $text } pode ser { $thousands } ou { $decimals }
    .next = nada foi gravado; escreva { $plain } ou { $exact }
wishes-ambiguous-question = { $text }: [1] { $thousands } ou [2] { $decimals }?
wishes-no-json = --data não é JSON: { $problem }
    .next = nada foi gravado; escreva assim: --data '{"{"}"tracking_code": "BR123"{"}"}'
wishes-several-stores = há várias lojas: { $known }
    .next = nada foi gravado; escolha uma com --store
wishes-no-file = { $file } não pode ser lido: { $problem }
    .next = nada foi importado
wishes-bad-lines = { $file }: { $lines }
    .next = nada foi importado; corrija estas linhas e importe de novo

# Decisões: release, retry, ignore.
wishes-decide-release = { $rows ->
    [1] Liberar { $rows } registro, uma vez? (s/n)
   *[other] Liberar { $rows } registros, uma vez? (s/n)
}
wishes-decide-more = { $rows ->
    [1] … e mais { $rows } registro
   *[other] … e mais { $rows } registros
}
wishes-decide-retry = { $rows ->
    [1] Tentar de novo { $rows } registro? (s/n)
   *[other] Tentar de novo { $rows } registros? (s/n)
}
wishes-decide-ignore = { $rows ->
    [1] Ignorar { $rows } registro? (s/n)
   *[other] Ignorar { $rows } registros? (s/n)
}
wishes-needs-yes = { $rows ->
    [1] { $rows } registro; nada foi decidido
   *[other] { $rows } registros; nada foi decidido
}
    .next = confirme com --yes
wishes-released = { $rows ->
    [1] { $rows } registro liberado
   *[other] { $rows } registros liberados
}
wishes-retried = { $rows ->
    [1] { $rows } registro será tentado de novo
   *[other] { $rows } registros serão tentados de novo
}
wishes-ignored-rows = { $rows ->
    [1] { $rows } registro ignorado
   *[other] { $rows } registros ignorados
}; para trazer de volta: { $back }
wishes-ignored-group = { $rows ->
    [1] { $rows } registro ignorado
   *[other] { $rows } registros ignorados
}; para trazer de volta, com os que já estavam ignorados: { $back }
wishes-nothing-to-decide = nada a decidir
wishes-nothing-held = nada retido
wishes-no-such-row = nenhum registro com esta chave está com erro, retido, em dúvida ou ignorado
    .next = use ENTIDADE e CHAVE como em espelho errors --all

# espelho plan
wishes-plan-nothing = { $store }: nada a enviar; nenhum registro do ERP espera
wishes-plan-not-now = { $store }: nada será enviado agora
wishes-plan-failed = { $rows ->
    [1] 1 registro com falha
   *[other] { $rows } registros com falha
}: { $step }
wishes-plan-doubtful = { $rows ->
    [1] 1 registro em dúvida
   *[other] { $rows } registros em dúvida
}: { $step }
wishes-plan-held = { $rows ->
    [1] 1 registro retido por uma proteção
   *[other] { $rows } registros retidos por uma proteção
}: { $step }
wishes-plan-store = { $store }: { $rows ->
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
wishes-plan-waits = { $entity } { $key }: espera: { $reason }
wishes-plan-progress = { $done ->
    [1] { $done } feito
   *[other] { $done } feitos
}, { $open } a caminho, { $waiting ->
    [1] { $waiting } espera
   *[other] { $waiting } esperam
}
wishes-plan-ended = { $open ->
    [1] { $open } aberto
   *[other] { $open } abertos
}, { $held ->
    [1] { $held } retido
   *[other] { $held } retidos
}, { $failed } com erro, do que estava planejado
wishes-retry-only = O que foi separado só pode ser tentado de novo.
    .next = espelho retry ENTIDADE CHAVE
