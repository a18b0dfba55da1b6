# espelho explain: a história de um pedido, produto, comando ou remessa, na ordem do tempo.

explain-placed = pedido feito
explain-delivered = webhook { $event }, tratado em { $handled }
explain-delivered-open = webhook { $event }, ainda na fila
explain-moved = marketplace: { $from } → { $to }
explain-moved-to = marketplace: { $to }
explain-noted = marketplace: { $description }
explain-mirrored = espelho: { $what } { $op ->
    [insert] entrou
    [update] mudou
    [gone] sumiu do marketplace
   *[other] { $op }
}
explain-commanded = ERP: comando { $key }: { $wish }
explain-answered = { $row }: { $state }
explain-answered-why = { $row }: { $state }: { $error } ({ $code })
explain-way-back = { $what }; só volta com: { $back }
explain-was = { $row }: { $state } ({ $code }), até alguém decidir
explain-decided = { $row }: { $act ->
    [release] liberado
    [ignore] ignorado
    [happened] encerrado, porque aconteceu,
    [retry] mandado tentar de novo
    [bring_back] trazido de volta
   *[other] { $act }
} por { $actor }
explain-test-arrived = { $row }: o marketplace aceitou o pedido, e uma entrega de teste chegou em { $heard }
explain-test-unproved = { $row }: o marketplace aceitou o pedido; nenhuma entrega de teste chegou desde então, até onde se sabe
explain-called = chamada { $request }: { $state }
explain-called-proof = chamada { $request }: { $state } ({ $proof })
explain-invoiced = { $kind ->
    [nfe] NF-e
    [content_declaration] declaração de conteúdo
   *[other] nota fiscal ({ $kind })
} { $number }: { $status ->
    [issued] emitida
    [cancelled] cancelada
    [processing] em processamento
    [replaced] substituída
    [error] com erro
   *[other] { $status }
}
explain-replaced = nota fiscal { $number } substituída
explain-shipped = remessa { $id }: { $status }
explain-shipped-tracked = remessa { $id }: { $status }, rastreio { $code }
explain-labelled = etiqueta { $id } ({ $format }): { $status }
explain-filed = arquivo da etiqueta: { $file }
explain-filed-void = arquivo da etiqueta, sem valor: { $file }
explain-taken = o ERP pegou o pedido
explain-taken-as = o ERP pegou o pedido: { $details }
explain-waiting = espera há { $age }: { $reason } ({ $code }); continua sozinho
explain-failed = falha: { $error } ({ $code })
explain-unknown = o espelho não conhece { $key }: confira o número, o SKU e a loja (--store)
explain-unknown-similar = o espelho não conhece { $key }; parecidos: { $similar }
explain-missing = não encontrado no marketplace desde { $since }: confirmado { $times } de { $believed }, próxima vez { $next }
explain-not-mirrored = { $what }: não está no espelho
explain-with-status = { $what }, { $status }
explain-gone = { $what }: fora do marketplace desde { $gone }
explain-mirrored-at = { $what }: última leitura em { $at }

explain-entity = { $entity ->
    [order] pedido { $key }
    [product] produto { $key }
    [shipment] remessa { $key }
    [shipment_label] etiqueta { $key }
    [order_invoice] nota fiscal { $key }
    [command] comando { $key }
    [stock] estoque { $key }
    [price] preço { $key }
    [campaign] campanha { $key }
   *[other] { $entity } { $key }
}
explain-row-change = { $key }: { $before } → { $after }
explain-row-value = { $key } → { $after }
explain-status = { $status ->
    [waiting_payment] aguardando pagamento
    [paid] pago
    [preparing] em preparação
    [ready_to_ship] pronto para envio
    [shipped] enviado
    [delivered] entregue
    [cancelled] cancelado
    [completed] concluído
    [payment_expired] pagamento vencido
    [ready_for_pickup] pronto para retirada
    [picked_up] retirado
    [pickup_expired] retirada vencida
    [awaiting_campaign_conclusion] aguardando o fim da campanha
    [awaiting_availability] aguardando disponibilidade
    [awaiting_restock] aguardando reposição
    [available] disponível
    [restocked] reposto
    [production_started] produção iniciada
    [awaiting_materials] aguardando materiais
    [production_in_progress] em produção
    [production_finished] produção concluída
   *[other] { $status }
}
explain-shipment-status = { $status ->
    [pending] pendente
    [processing] em processamento
    [ready_to_ship] pronta para despacho
    [in_transit] em trânsito
    [delivered] entregue
    [cancelled] cancelada
    [return_in_progress] devolução em andamento
    [returned] devolvida
    [awaiting_return] aguardando devolução
    [failed] não entregue
    [error] com erro
   *[other] { $status }
}
explain-label-status = { $status ->
    [pending] pendente
    [processing] sendo feita
    [completed] pronta
    [error] com erro
   *[other] { $status }
}
explain-state = { $state ->
    [new] novo
    [waiting] espera, continua sozinho
    [sending] a caminho
    [done] feito
    [failed] não feito
    [held] retido
    [doubtful] em dúvida
    [ignored] ignorado
    [superseded] substituído
   *[other] { $state }
}
explain-effect = { $state ->
    [planned] planejada
    [sent] enviada, resultado ainda desconhecido
    [confirmed] confirmada
    [refuted] não aconteceu
    [doubtful] em dúvida
   *[other] { $state }
}

# O que prova uma chamada.
explain-proof-answered = o marketplace respondeu
explain-proof-refused = o marketplace recusou
explain-proof-called-off = cancelada antes de sair
explain-proof-it-never-left = nunca saiu
explain-proof-its-evidence-cannot-be-read = a prova guardada não pode ser lida
explain-proof-neither-the-order-nor-its-timeline-shows-it = nem o pedido nem o histórico mostram
explain-proof-no-picture-is-new = nenhuma imagem é nova
explain-proof-one-picture-is-new = uma imagem é nova
explain-proof-no-product-has-the-sku = nenhum produto tem o SKU
explain-proof-the-sku-is-in-the-catalogue = o SKU está no catálogo
explain-proof-the-campaign-does-not-list-all-of-them = a campanha não mostra todos
explain-proof-the-campaign-lists-them = a campanha mostra
explain-proof-the-labels-are-others = as etiquetas são outras
explain-proof-the-order-has-other-notes = o pedido tem outras observações
explain-proof-the-order-has-the-notes = o pedido tem as observações
explain-proof-the-order-is-there = o pedido está lá
explain-proof-the-order-s-timeline-shows-it = o histórico do pedido mostra
explain-proof-the-page-does-not-show-it = a página não mostra
explain-proof-the-page-shows-it = a página mostra
explain-proof-the-picture-is-not-the-product-s = a imagem não é do produto
explain-proof-the-picture-is-the-product-s = a imagem é do produto
explain-proof-the-product-does-not-show-it = o produto não mostra
explain-proof-the-product-shows-it = o produto mostra
explain-proof-the-product-shows-it-less-what-was-sold = o produto mostra, menos o que foi vendido
explain-proof-the-quantity-has-moved-by-it = o saldo mudou disso
explain-proof-the-quantity-has-not-moved = o saldo não mudou
explain-unknown-entity = “{ $entity }” não é nada que o espelho guarde; você quis dizer “{ $alike }”?
    .next = escolha entre { $known }
