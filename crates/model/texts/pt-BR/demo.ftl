# A demonstração: o que ela mostra a quem vê o espelho pela primeira vez.

demo-marketplace = Marketplace de brinquedo (sandbox): { $address }
demo-folder = Configuração e banco de dados: { $folder }
demo-page = Página: { $address }
    .next = Veja ali os pedidos da loja: a cada { $seconds } s o marketplace vende algo, e o número sobe aqui e lá.
demo-terminal = Em outro terminal: { $command }
demo-end = Ctrl-C encerra a demonstração e apaga as senhas dela.
demo-kept = Fica no disco: { $database }. As senhas da demonstração foram apagadas.
demo-removed = Apagado: { $folder }, com tudo o que havia ali. Para ficar com o banco de dados: --dir PASTA.
demo-mirrored = Espelhado em { $database }
demo-ask = Pergunte o que quiser: { $command }
demo-nothing = (nada)
demo-open = O que está aberto, e quanto vale?
demo-blocking = O que trava o despacho?
demo-running-out = O que está acabando?
demo-head-status = situação
demo-head-orders = pedidos
demo-head-total = total (R$)
demo-head-order = pedido
demo-head-sku = SKU
demo-head-quantity = quantidade
demo-head-stock-status = situação do estoque
demo-head-location = local
demo-head-available = disponível
demo-head-price = preço (R$)
