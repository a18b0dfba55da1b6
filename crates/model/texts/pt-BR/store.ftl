# O que o banco de dados diz por si: linhas que ninguém trata, e frases das visões. `.next` diz o próximo passo.

store-service-stopped = O serviço está parado: nenhum pedido chega e nada é enviado.
    .next = sudo systemctl enable --now espelho espelho.socket; journalctl -u espelho -n 20

store-taken-unknown-store = erp_orders cita a loja “{ $store }”, que esta instalação nunca teve: esses pedidos não contam como recebidos.
    .next = Troque store em erp_orders pelo nome de uma loja configurada, ou apague essas linhas.
store-unknown-store = Não existe a loja “{ $store }” nesta instalação. Lojas configuradas: { $known }{ $more ->
        [0] {""}
       *[other] {" "}(e mais { $more })
    }.
    .next = { $alike ->
        [0] Troque store pelo nome de uma loja configurada, ou configure esta loja: a linha volta sozinha para a fila.
       *[other] Troque store para { $nearest }, ou configure esta loja: a linha volta sozinha para a fila.
    }

store-campaign-price = O preço congelado na campanha já não combina com o preço atual.
    .next = Veja v_campaign_drift. Fale com o marketplace pelo portal, ou volte o preço.

store-price-zero = O marketplace mostra preço zero.
    .next = Grave o preço em erp_prices, ou corrija no portal.
