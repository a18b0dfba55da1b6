# Palavras para situações, estados e nomes; o que o catálogo não tem aparece como veio.

words-other = { $word }
words-with-code = { $word } ({ $code })

words-order-waiting-payment = Aguardando pagamento
words-order-paid = Pago
words-order-preparing = Em preparo
words-order-ready-to-ship = Pronto para envio
words-order-shipped = Enviado
words-order-delivered = Entregue
words-order-cancelled = Cancelado
words-order-completed = Concluído
words-order-payment-expired = Pagamento vencido
words-order-ready-for-pickup = Pronto para retirada
words-order-picked-up = Retirado
words-order-pickup-expired = Retirada vencida
words-order-awaiting-campaign-conclusion = Aguardando campanha
words-order-awaiting-availability = Aguardando disponibilidade
words-order-available = Disponível
words-order-awaiting-restock = Aguardando reposição
words-order-restocked = Reposto
words-order-production-started = Produção iniciada
words-order-awaiting-materials = Aguardando materiais
words-order-production-in-progress = Em produção
words-order-production-finished = Produção concluída

words-shipment-pending = Pendente
words-shipment-processing = Em processamento
words-shipment-ready-to-ship = Pronta para envio
words-shipment-in-transit = Em trânsito
words-shipment-delivered = Entregue
words-shipment-cancelled = Cancelada
words-shipment-return-in-progress = Devolução em andamento
words-shipment-returned = Devolvida
words-shipment-awaiting-return = Aguardando devolução
words-shipment-failed = Não entregue
words-shipment-error = Com erro

words-run-complete = completa
words-run-partial = parcial
words-run-failed = falhou
words-run-running = em curso
words-run-interrupted = interrompida

words-push-new = novo
words-push-waiting = esperando
words-push-sending = enviando
words-push-done = feito
words-push-failed = falhou
words-push-held = retido
words-push-doubtful = duvidoso
words-push-ignored = ignorado
words-push-superseded = substituído

words-resource-orders = pedidos
words-resource-products = produtos
words-resource-shipments = remessas
words-resource-campaigns = campanhas
words-resource-media-images = imagens
words-resource-price-lists = listas de preços
words-resource-profile = dados da loja
words-resource-labels = etiquetas
words-resource-stock-locations = locais de estoque
words-resource-listings = anúncios
words-resource-occurrences = ocorrências
words-resource-conversations = conversas

words-entity-order = pedido
words-entity-product = produto
words-entity-shipment = remessa
words-entity-shipment-label = etiqueta
words-entity-campaign = campanha
words-entity-campaign-listing = anúncio em campanha
words-entity-media-image = imagem
words-entity-price-list = lista de preços
words-entity-listing = anúncio
words-entity-occurrence = ocorrência
words-entity-conversation = conversa
words-entity-conversation-message = mensagem
words-entity-store-profile = dados da loja
words-entity-stock-location = local de estoque
words-entity-delivery = entrega de webhook
words-entity-webhook = webhook
words-entity-stock = estoque
words-entity-price = preço
words-entity-command = comando
words-entity-orders = pedido
words-entity-products = produto

words-lane-interactive = urgente
words-lane-refresh = avisos de webhook
words-lane-push = envios
words-lane-poll = varreduras
words-lane-backfill = conciliação

words-sweep-new-orders = Pedidos novos
words-sweep-open-orders = Pedidos em aberto
words-sweep-sold-products = Produtos vendidos
words-sweep-aged-products = Produtos, em rodízio
words-sweep-parts = Detalhes de pedidos
words-sweep-aged-orders = Pedidos antigos
words-sweep-counts = Contagens
words-sweep-campaigns = Campanhas
words-sweep-media = Imagens
words-sweep-profile = Dados da loja
words-sweep-enums = Situações do marketplace
words-sweep-webhook-test = Teste do webhook
