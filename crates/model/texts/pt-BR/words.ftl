# Palavras para situações, estados e nomes; o que o catálogo não tem aparece como veio.

words-other = { $word }
words-quoted = “{ $said }”
words-with-code = { $word } ({ $code })

words-order-waiting-payment = Aguardando pagamento
words-order-paid = Pago
words-order-preparing = Em preparação
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
words-shipment-ready-to-ship = Pronta para despacho
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
words-lane-poll = leituras periódicas
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
words-resource-open-orders = pedidos em aberto
words-resource-campaign-listings = anúncios em campanha
words-resource-tracking = rastreios
words-resource-invoices = notas fiscais
words-resource-events = históricos
words-resource-financial = financeiro
word-pause-all = tudo
word-pause-push = envio
word-pause-pull = leitura
word-pause-webhooks = entregas
word-pause-stock = estoque
word-pause-prices = preços
word-pause-commands = comandos

# O que um comando pede: um verbo, ao qual se junta a chave dele; e os campos dos dados.
words-command-order-status = mudar a situação do pedido
words-command-order-notes = trocar as observações do pedido
words-command-labels-generate = gerar as etiquetas do pedido
words-command-campaign-opt-in = aderir à campanha
words-command-price-list-create = criar uma lista de preços
words-command-price-list-update = mudar a lista de preços
words-command-price-lists-settings = ligar ou desligar as listas de preços
words-command-product-create = criar o produto
words-command-product-update = mudar o produto
words-command-stock-adjust = ajustar o estoque de
words-command-price-delete-tier = apagar uma faixa de preço de
words-command-media-upload = enviar a imagem
words-command-gallery-add = pôr uma imagem na galeria de
words-command-listing-create = criar o anúncio
words-command-listing-publish = publicar o anúncio
words-command-store-page-update = mudar a página da loja
words-command-webhook-test = pedir uma entrega de teste

words-field-data = dados
words-field-delta = diferença
words-field-format = formato
words-field-image-id = imagem
words-field-is-active = ativa
words-field-location-id = local
words-field-min-quantity = quantidade mínima
words-field-mode = modo
words-field-name = nome
words-field-notes = observações
words-field-path = arquivo
words-field-position = posição
words-field-price-lists-enabled = listas de preços
words-field-publication-ids = anúncios
words-field-status = situação

# O que o marketplace diz de um pedido: fluxo, canal, entrega e pagamento.
words-workflow-standard = padrão
words-workflow-production = produção
words-workflow-in-store-pickup = retirada na loja
words-workflow-pre-order = pré-venda
words-workflow-backorder = sob reposição
words-workflow-collective = compra coletiva

words-channel-marketplace = marketplace
words-channel-direct = venda direta
words-channel-store-seller = vendedor da loja

words-delivery-shipping = remessa
words-delivery-pickup = retirada

words-payment-method-credit-card = cartão de crédito
words-payment-method-debit-card = cartão de débito
words-payment-method-boleto = boleto
words-payment-method-pix = Pix
words-payment-method-voucher = vale

words-payment-pending = pendente
words-payment-approved = aprovado
words-payment-refunded = estornado
words-payment-expired = vencido
words-payment-cancelled = cancelado
words-payment-refused = recusado
