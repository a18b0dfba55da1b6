# O que o espelho responde nas linhas do ERP. A mensagem diz a causa; `.next` diz o próximo passo.

push-invalid = Valor inválido: { $why }.
    .next = Corrija o valor: o espelho envia de novo sozinho.
push-unknown-kind = O comando “{ $kind }” não existe.
    .next = Use um destes: { $all }.
push-unreadable = Há texto que não é UTF-8, ou um valor de outro tipo.
    .next = Apague esta linha e grave-a de novo em UTF-8, com números como números.
push-too-large = O comando tem mais de 1 MiB de dados, ou um tipo ou uma chave longos demais.
    .next = Grave-o de novo com menos: textos mais curtos, imagens como arquivos.
push-key-too-long = O SKU, o local ou a quantidade são longos demais: um SKU do marketplace tem no máximo 50 caracteres.
    .next = Apague esta linha e grave-a de novo com o SKU do produto.
push-gave-up = { $attempts } tentativas, e nenhuma teve efeito comprovado.
    .next = Veja como o marketplace está. Depois: espelho retry { $row }
push-doubtful = Foi enviado, e nada prova se teve efeito.
    .next = Confira no portal. Se não teve efeito: espelho retry { $row }; se teve: espelho ignore { $row } (nada mais é enviado)
push-set-aside = Pode ter tido efeito. { $cause }
    .next = Envie esta linha a quem mantém o espelho. Confira no portal. Se não teve efeito, depois da correção: espelho retry { $row }; se teve: espelho ignore { $row } (nada mais é enviado)
push-restored-command = Um backup foi restaurado, e nada prova se isto já foi executado depois dele.
    .next = Confira no portal. Se não foi executado: espelho retry { $row }; se foi: espelho ignore { $row } (nada mais é enviado)
push-restored-movement = Um backup foi restaurado, e nada prova se este ajuste já entrou depois dele.
    .next = Conte o estoque. Se faltar: espelho retry { $row }; se já entrou: espelho ignore { $row } (nada mais é enviado)
push-restored-wish = Um backup foi restaurado: este valor é da data do backup e pode estar desatualizado.
    .next = Grave agora o valor atual, mesmo igual: então ele é enviado. Se todos ainda valem: espelho retry --all --code restored --store { $store }
push-no-answer = Foi enviado, e o marketplace não diz mais se teve efeito: { $why }
    .next = Confira no portal. Se não teve efeito: espelho retry { $row }; se teve: espelho ignore { $row } (nada mais é enviado)
push-unknown-sku = Nenhum produto desta loja tem o SKU { $sku }.
    .next = Corrija o SKU da linha em erp_stock ou erp_prices, ou apague a linha. Se o produto ainda vai ser criado, nada a fazer: ela vai sozinha.
push-shared-sku = Dois produtos desta loja têm o SKU { $sku }: { $one } e { $other }. Nada é enviado enquanto não se sabe de qual deles se trata.
    .next = Dê um SKU próprio a cada um no portal do vendedor. Se um deles já não existe, nada a fazer: a próxima conciliação completa percebe.
push-sku-awaited = Ainda não há produto desta loja com o SKU { $sku }: a primeira leitura não terminou, ou o produto está sendo criado.
    .next = Nada a fazer: vai sozinho quando o produto aparecer. Se o SKU estiver errado, corrija-o.
push-unknown-sku-command = Nenhum produto desta loja tem o SKU { $sku }.
    .next = Confira o SKU. Se o produto foi criado depois: espelho retry { $row }; para desistir do comando: espelho ignore { $row }

# Estoque
push-too-many-to-zero = { $zeroes } de { $above } saldos iriam a zero de uma vez.
    .next = Se não for isso, corrija o que o ERP gravou; se for, todos de uma vez: { $release_all }; só este: espelho release { $row }
push-unknown-location = A loja não tem o local { $location }.
    .next = SELECT location_id, name FROM stock_locations mostra os locais da loja: corrija location_id.
push-oversold = Há { $reserved } reservados para clientes e só { $quantity } em estoque.
    .next = Reponha o estoque ou cancele pedidos; depois grave a quantidade de novo.
push-stock-conflict = Gravamos { $wanted }, mas depois o marketplace mostra { $quantity }: o saldo mudou lá.
    .next = Confira o saldo e grave a quantidade de novo.
push-stock-unsent-conflict = O espelho já mostrava { $wanted }, e nada foi enviado; o marketplace mostra { $quantity }, e as vendas não explicam a diferença.
    .next = Confira o saldo e grave a quantidade de novo.
push-too-little-stock = Há { $before } em estoque, e a baixa pedida é de { $less }.
    .next = Confira a quantidade e envie um novo comando.
push-reading-behind = O marketplace mostra uma quantidade de antes da nossa última mudança deste estoque.
    .next = Nada a fazer: o ajuste espera até a mudança aparecer, no máximo dois minutos.
push-movement-doubtful = O ajuste foi enviado, e nada prova se entrou.
    .next = Conte o estoque. Se faltar: espelho retry { $row }; se já entrou: espelho ignore { $row } (nada mais é enviado)
push-movement-no-answer = O ajuste foi enviado, e o marketplace não diz mais se entrou: { $why }
    .next = Conte o estoque. Se faltar: espelho retry { $row }; se já entrou: espelho ignore { $row } (nada mais é enviado)
push-movement-set-aside = O ajuste pode ter entrado. { $cause }
    .next = Envie esta linha a quem mantém o espelho. Conte o estoque. Se faltar, depois da correção: espelho retry { $row }; se já entrou: espelho ignore { $row } (nada mais é enviado)
push-movement-others = O ajuste de { $delta } foi enviado, e nada prova se entrou: havia { $before }, agora há { $after }, e alguém mexeu no estoque nesse meio-tempo.
    .next = Conte o estoque. Se faltar: espelho retry { $row }; se já entrou: espelho ignore { $row } (nada mais é enviado)
push-movement-unclear = O ajuste de { $delta } foi enviado, e nada prova se entrou: havia { $before }, agora há { $after }, e { $sold } saíram em vendas nesse meio-tempo.
    .next = Conte o estoque. Se faltar: espelho retry { $row }; se já entrou: espelho ignore { $row } (nada mais é enviado)

# Preços
push-price-rule = As faixas de preço pedidas não são permitidas (regra { $rule }): { $problem }.
    .next = Corrija as faixas em erp_prices, ou mude o tipo de preço com product.update.
push-price-zero-and-rule = O marketplace mostra preço zero, e as faixas de preço pedidas não são permitidas (regra { $rule }): { $problem }.
    .next = Corrija o preço agora no portal, depois as faixas em erp_prices.
push-price-shown-zero = O marketplace mostra preço zero depois do envio.
    .next = Grave o preço de novo agora, ou corrija no portal.
push-price-not-as-sent = O marketplace aceitou os preços, mas mostra outros valores (arredondamento?).
    .next = Compare em v_drift e grave um preço com menos casas decimais.
push-tier-still-there = O marketplace aceitou a exclusão da faixa de preço, mas ainda a mostra.
    .next = Confira o produto no portal. Para enviar de novo: espelho retry { $row }
push-price-written-back = Este preço já foi enviado 3 vezes em uma hora, e sempre volta a outro valor.
    .next = Veja quem mais altera preços (portal, outro sistema). Para enviar mais uma vez: espelho release { $row }
push-tier-invalid = Outra faixa deste produto tem um valor inválido.
    .next = Corrija a outra faixa: esta vai em seguida.
push-tier-refused = O marketplace recusou a faixa a partir de { $tier }: esta não foi enviada.
    .next = Corrija a faixa recusada: esta vai em seguida.
push-tier-held = Outra faixa deste produto está retida.
    .next = Libere ou corrija a outra faixa: esta vai em seguida.
push-price-zero = O preço seria zero.
    .next = Grave um preço acima de zero.
push-price-zero-of = O preço de { $sku } seria zero.
    .next = Grave um preço acima de zero.
push-price-floor-of = O preço de { $sku }, { $price }, está abaixo do piso { $floor }.
    .next = Se não for isso, corrija erp_prices; se for: espelho release { $row }
push-price-jump-of = O preço de { $sku } { $way ->
        [falls] cairia
        [rises] subiria
       *[other] mudaria
    } { $percent } % de uma vez, para { $price }.
    .next = Se não for isso, corrija erp_prices; se for: espelho release { $row }

# Pedidos
push-impossible-transition = O pedido está em “{ $current }” e não pode ir para “{ $target }”.
    .next = Agora ele pode ir para: { $offered }.
push-no-transition = O pedido está em “{ $current }” e não pode ir para “{ $target }”: o marketplace não oferece nenhuma mudança agora.
    .next = Veja o pedido no portal: uma situação mais nova é lida em até um minuto. Se ele já está como deve, desista do comando: espelho ignore { $row }; se depois puder mudar: espelho retry { $row }
push-too-late-to-cancel = Tarde demais: o vendedor só cancela antes da preparação.
    .next = Peça o cancelamento ao marketplace pelo portal.
push-too-late-to-cancel-from = Tarde demais: o pedido já está em “{ $current }”, e o vendedor só cancela antes da preparação.
    .next = Peça o cancelamento ao marketplace pelo portal.
push-waiting-invoice = Espera a NF-e ou a declaração de conteúdo.
    .next = Emita a nota: quando ela aparecer, o espelho continua sozinho.
push-waiting-invoice-as-said = { $words ->
        [none] Espera a NF-e ou a declaração de conteúdo.
       *[other] Espera a NF-e ou a declaração de conteúdo. O marketplace diz: “{ $words }”
    }
    .next = Emita a nota: quando ela aparecer, o espelho continua sozinho.
push-automatic = Depois da retirada, o marketplace marca o pedido como entregue sozinho.
    .next = Nada a fazer.
push-notes-conflict = Alguém mudou as observações no marketplace, e o texto de lá foi mantido.
    .next = Leia orders.notes, junte os textos e envie um novo comando com data.base igual ao texto de lá.

# Etiquetas
push-no-shipment = O pedido ainda não tem remessa.
    .next = Avance o pedido primeiro. Depois: espelho retry { $row }
push-labels-blocked = O marketplace bloqueou a geração de etiquetas desta remessa.
    .next = Veja a remessa no portal.
push-labels-would-be-discarded = Há etiquetas prontas em outro formato, e gerar de novo as descarta.
    .next = Se for isso mesmo: espelho release { $row }, ou um comando com { $regenerate } em data.
push-labels-being-made = O marketplace está gerando as etiquetas.
    .next = Nada a fazer: leva de 5 a 20 segundos por remessa.
push-labels-failed = O marketplace não conseguiu gerar as etiquetas.
    .next = Para olhar de novo sem gerar outra vez: espelho retry { $row }. Para gerar de novo: { $regenerate } em data.
push-labels-late = As etiquetas não ficaram prontas em 2 minutos.
    .next = Para olhar de novo sem gerar outra vez: espelho retry { $row }. Para gerar de novo: { $regenerate } em data.

# Campanhas
push-campaign-over = A campanha terminou ou foi cancelada.
    .next = Nada mais a fazer nesta campanha.
push-campaign-closed = O prazo de adesão acabou, ou acaba em menos de 5 minutos.
    .next = Nada mais a fazer nesta campanha.
push-campaign-price-fell = Na campanha estes custariam agora menos do que o combinado: { $listings }. Nada foi enviado; não há rota para sair de uma campanha.
    .next = Compare os preços com data.lowest_prices. Para aderir aos preços de hoje: insira o comando de novo com os lowest_prices de hoje.
push-not-enrolled = O marketplace aceitou a adesão, mas não mostra: { $left }.
    .next = Confira em campaign_listings se os anúncios são elegíveis e envie um novo comando.
push-would-join = Pela política da loja, entrariam na campanha { $campaign }: { $listings ->
        [1] { $listings } anúncio
       *[other] { $listings } anúncios
    }.
    .next = Confira em campaign_listings. Para aderir: espelho release { $row }; para aderir sempre: join = "yes" em [campaigns].

# Produtos e anúncios
push-sku-exists = Já existe um produto com o SKU { $sku }.
    .next = Use product.update.
push-product-not-as-sent = O marketplace aceitou a alteração, mas não a mostra.
    .next = Confira o produto no portal.
push-listing-not-named = O anúncio foi criado, mas a resposta não diz o código dele.
    .next = Publique o anúncio no portal.
push-many-listings = Mais de { $most } anúncios criados em uma hora.
    .next = Se for isso mesmo: espelho release { $row }

# A prévia (espelho plan)
push-plan-held = Retido: { $why }
push-plan-nothing = Nada a enviar se o marketplace mostrar o mesmo que o espelho; sem leitura recente, o saldo é lido antes.
push-plan-unless = Só se ainda não estiver assim, e se o marketplace permitir na hora.
push-plan-depends = O que vai depende do que for lido na hora.
