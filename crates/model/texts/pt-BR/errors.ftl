# espelho errors: por causa, a mais frequente primeiro.

errors-none = nenhum erro
errors-no-rows = nenhum registro com erro
errors-problems-title = problemas que não são de um registro (espelho status):
errors-cause = { $count } × { $title } ({ $code }): { $names }
errors-cause-more = { $count } × { $title } ({ $code }): { $names } … e mais { $more }
errors-next-step-of = próximo passo de { $name }: { $step }
errors-or-give-up = { $step } Para encerrar de vez: { $ignore }
errors-or-delete = { $step } Para encerrar de vez, apague { $count ->
        [1] a linha
       *[other] as linhas
    } de { $tables }, ou: { $ignore }
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
errors-code-not-found = o marketplace não conhece
errors-code-waiting-invoice = espera NF-e
errors-code-too-little-stock = baixa maior que o estoque
errors-code-not-enrolled = adesão aceita, mas não mostrada
errors-code-notes-conflict = observações mudadas no marketplace
errors-code-sku-exists = SKU já existe
errors-code-too-late-to-cancel = tarde demais para cancelar
errors-code-campaign-closed = adesão à campanha encerrada
errors-code-campaign-price-fell = preço de campanha caiu
errors-code-unknown-kind = comando desconhecido
errors-code-validation-error = recusado pelo marketplace
errors-code-written-back = preço que sempre volta
