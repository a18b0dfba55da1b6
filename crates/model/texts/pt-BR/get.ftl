# espelho get order: um pedido do espelho, para pessoas.

get-unknown = desconhecido
get-unknown-key = desconhecida
get-none = nada registrado
get-amounts = total { $total }: produtos { $products }, frete { $shipping }, descontos { $discounts }
get-payment = pagamento: { $method }, { $status }
get-kind = fluxo { $workflow }, canal { $channel }, entrega por { $delivery }
get-times = feito em { $created }, alterado em { $updated }
get-time-payment-expires-at = pagar até { $at }
get-time-release-at = liberado em { $at }
get-time-invoice-by = faturar até { $at }
get-time-pick-by = separar até { $at }
get-time-ship-by = despachar até { $at }
get-time-picked-up-at = retirado em { $at }
get-lines = Itens
get-line = { $quantity } × { $sku } { $name }: { $each } cada, { $sum } ao todo
get-shipments = Remessas
get-shipment = { $shipment }; transportadora { $carrier }; etiquetas prontas: { $ready } de { $of }
get-invoices = Documentos fiscais
get-invoice = { $invoice }, emissão em { $issued }, chave de acesso { $key }
get-invoice-current = { $invoice }, emissão em { $issued }, chave de acesso { $key }: é o que vale
get-invoice-replaced = { $invoice }, emissão em { $issued }, chave de acesso { $key }; substituída em { $at }
get-json = Tudo, com os dados do comprador e o objeto como veio: --json
get-unknown-order = Não há pedido { $number } no espelho.
    .next = Confira o número e a loja (--store). O que mais se sabe dele: espelho explain order { $number }
get-several = Várias lojas têm um pedido { $number }: { $stores }.
    .next = Indique uma com --store LOJA.
