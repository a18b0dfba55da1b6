# espelho errors: por causa, a mais frequente primeiro.

errors-none = nenhum erro
errors-no-rows = nenhum registro com erro
errors-problems-title = problemas que não são de um registro (espelho status):
errors-cause = { $count } × { $title } ({ $code }): { $names }
errors-cause-more = { $count } × { $title } ({ $code }): { $names } … e mais { $more }
errors-next-step-of = próximo passo de { $name }: { $step }
errors-or-give-up = { $step } (para encerrar de vez: { $ignore })
errors-or-delete = { $step } (para encerrar de vez, apague { $count ->
        [1] a linha
       *[other] as linhas
    } de { $tables }, ou: { $ignore })
errors-each = cada registro: { $see_all }
errors-waiting-title = espera (continua sozinho):
errors-waiting = { $line }; há { $age }

# O nome de uma causa cujos registros têm palavras diferentes.
errors-code-shared-sku = SKU de dois produtos
errors-code-unknown-sku = SKU desconhecido
errors-code-unknown-location = local desconhecido
errors-code-unknown-store = loja desconhecida
errors-code-invalid-data = valor inválido
errors-code-unreadable = registro ilegível
errors-code-price-zero = preço zero
errors-code-price-floor = preço abaixo do piso
errors-code-price-jump = preço muda demais de uma vez
errors-code-price-rule = faixas de preço não permitidas
errors-code-oversold = vendido além do estoque
errors-code-stock-conflict = o saldo mudou no marketplace
errors-code-many-to-zero = estoques demais a zero de uma vez
errors-code-impossible-transition = mudança de situação impossível
errors-code-gave-up = tentado muitas vezes sem efeito
errors-code-unprovable = enviado, sem prova do que houve
errors-code-not-found = não existe no marketplace
errors-code-waiting-invoice = espera NF-e
errors-code-too-little-stock = baixa maior que o estoque
errors-code-not-enrolled = adesão aceita, mas não mostrada
errors-code-notes-conflict = observações mudadas no marketplace
errors-code-sku-exists = SKU já existe
errors-code-too-late-to-cancel = tarde demais para cancelar
errors-code-campaign-closed = adesão à campanha encerrada
errors-code-campaign-price-fell = preço de campanha caiu
errors-code-unknown-kind = comando desconhecido
errors-code-validation-error = dados recusados pelo marketplace
errors-code-written-back = preço que sempre volta
errors-code-address-expired = endereço de arquivo vencido
errors-code-address-refused = endereço de arquivo recusado
errors-code-aimless = webhook que não diz do que trata
errors-code-automatic = o marketplace faz sozinho
errors-code-campaign-price = preço congelado na campanha
errors-code-database = o banco de dados recusou
errors-code-disk = arquivo de etiqueta sem permissão de escrita
errors-code-disk-full = disco cheio
errors-code-foreign-login = outro programa usa a credencial
errors-code-foreign-store = entrega de outra loja
errors-code-incomplete = anúncios da campanha sem fim
errors-code-interrupted = resposta interrompida
errors-code-label-files-awaited = arquivos de etiqueta a caminho
errors-code-label-files-missing = arquivos de etiqueta não chegaram
errors-code-label-format-off = formato de etiqueta desligado
errors-code-labels-being-made = etiquetas sendo geradas
errors-code-labels-blocked = geração de etiquetas bloqueada
errors-code-labels-not-ready = etiquetas não ficaram prontas
errors-code-labels-would-be-discarded = etiquetas prontas seriam descartadas
errors-code-login-failed = login sem resposta legível
errors-code-login-limited = logins demais
errors-code-login-refused = login recusado
errors-code-many-listings = anúncios demais em uma hora
errors-code-no-id = criado, sem código na resposta
errors-code-no-shipment = sem remessa
errors-code-not-a-label = arquivo que não é uma etiqueta
errors-code-not-as-sent = aceito, mas mostrado de outro modo
errors-code-not-asked = ainda não lido
errors-code-panicked = uma parte do espelho falhou
errors-code-poisoned = separado por uma falha do espelho
errors-code-policy-dry = adesão à campanha à espera de decisão
errors-code-reading-behind = leitura de antes da última mudança
errors-code-restored = de antes de um backup restaurado
errors-code-setup = conexão que não pode ser preparada
errors-code-tier-held = outra faixa retida
errors-code-tier-invalid = outra faixa inválida
errors-code-tier-refused = outra faixa recusada
errors-code-too-large = grande demais
errors-code-unexpected = resposta fora da documentação
errors-code-unreachable = marketplace sem resposta
errors-code-unwritable = registro que o banco não guarda

# Os códigos do marketplace, e os números das respostas dele, são muitos.
errors-refused = recusado pelo marketplace
errors-http = o marketplace respondeu { $status }
errors-http-of-file = o servidor de arquivos respondeu { $status }
