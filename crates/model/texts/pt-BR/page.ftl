# As páginas do espelho.

page-menu = Páginas
page-menu-now = Agora
page-skip = Ir ao conteúdo
page-copy = Copiar
page-copied = Copiado
page-lost = Sem resposta do serviço: o que está abaixo é antigo.
page-unknown-since = Estado desconhecido desde
page-not-found = Não encontrado
page-unknown-store-next = As lojas são os arquivos stores/NOME.toml da configuração. Veja as que existem:
page-title-warnings = ! espelho: { $count ->
    [1] 1 aviso
   *[other] { $count } avisos
}
page-no-status = sem situação
page-none = nenhum
page-and-more = e mais { $count }

# Os quatro números.
page-numbers = Hoje em números
page-dispatch = Despachar hoje
page-late = { $count ->
    [1] 1 atrasado:
   *[other] { $count } atrasados:
}
page-none-late = nenhum atrasado
page-paid = pagos, ainda sem preparo:
page-invoices = Esperando NF-e
page-invoices-note = em preparação, sem nota fiscal
page-to-shop = ERP → loja
page-oldest = por enviar; o mais antigo há { $span }
page-nothing-open = nada por enviar
page-not-done = { $count } com falha
page-on-hold = { $count ->
    [1] 1 retido
   *[other] { $count } retidos
}
page-in-doubt = { $count } em dúvida
page-to-erp = Loja → ERP
page-not-taken = pedidos que o ERP ainda não pegou
page-webhooks-open = webhooks por tratar
page-takes-none = o ERP não registra pedidos em erp_orders
page-backlog = { $count ->
    [0] nenhum webhook na fila
    [1] 1 webhook na fila
   *[other] { $count } webhooks na fila
}

# Para fazer agora.
page-todo = Para fazer agora
page-mend-retry = Tentar de novo
page-mend-ignore = Desistir
page-mend-release = Liberar
page-mend-happened = Aconteceu: encerrar
page-mend-look = Ver um por um
page-mend-look-one = Ver o registro
page-mend-bring-back = Trazer de volta
page-mend-bring-back-all = Trazer todos de volta
page-mend-webhook-test = Para testar o webhook:
page-mend-resume = Continuar
page-mend-login = Para testar a senha:
page-mend-move = Para trazer o webhook:
page-mend-doctor = Para diagnosticar:
page-mend-resync = Para conciliar agora:
page-mend-store = Ver a loja
page-mend-status = Para ver a situação:
page-mend-start = Para iniciar o serviço:
page-mend-check = Para ver todos os erros:
page-mend-reload = Para ler de novo:
page-mend-clock = Para acertar o relógio:
page-mend-backup = Para fazer o backup agora:

page-alarm-service-stopped = serviço parado
page-alarm-disk-full = disco cheio
page-alarm-database-busy = banco de dados bloqueado
page-alarm-database-unreachable = banco de dados indisponível
page-alarm-database-read-only = banco de dados somente para leitura
page-alarm-database-replaced = arquivo do banco trocado
page-alarm-clock-wrong = relógio errado
page-alarm-configuration-refused = configuração nova recusada
page-alarm-marketplace-unreachable = marketplace não responde
page-alarm-marketplace-errors = marketplace responde com erro
page-alarm-throttled = marketplace recusa chamadas
page-alarm-unreadable-values = valores que não puderam ser lidos
page-alarm-mirror-differs = diferenças em relação ao marketplace
page-alarm-credential-refused = login recusado
page-alarm-foreign-login = outro programa usa a credencial
page-alarm-scope-missing = faltam permissões à credencial
page-alarm-webhooks-missing = faltam webhooks
page-alarm-webhook-elsewhere = webhook em outro endereço
page-alarm-webhooks-unverified = webhooks com assinatura desconhecida
page-alarm-not-held = ninguém cuida da loja
page-alarm-run-failed = conciliação parou
page-alarm-password-unreadable = arquivo de senha com problema
page-alarm-token-expires = token perto do fim
page-alarm-unknown-store = loja desconhecida
page-alarm-failed = com falha
page-alarm-held = retidos por uma proteção
page-alarm-doubtful = sem prova do resultado
page-alarm-waiting = esperam há mais de uma hora
page-alarm-late = atrasado
page-alarm-deadline = prazo vencido ou perto de vencer
page-alarm-fiscal-gate = esperam NF-e
page-alarm-paused = em pausa
page-alarm-notice-failed = avisos de alarmes não saem
page-alarm-backup-failed = backup falhou ou atrasou
page-alarm-schema-changed = esquema do banco alterado

# A última hora e os gráficos.
page-hour = Últimos 60 minutos
page-axis-now = agora
page-key-proved = em dia
page-key-warned = com aviso
page-key-failed = com falha
page-key-unproved = sem prova
page-key-not-running = não rodava
page-beats = { $store }: dos últimos 60 minutos, { $proved } em dia, { $warned } com aviso, { $broken } com falha, { $unproved } sem prova
page-fact-read = lido há { $span }
page-fact-orders = { $count ->
    [1] 1 pedido
   *[other] { $count } pedidos
}
page-fact-open = { $count ->
    [1] 1 linha do ERP por enviar
   *[other] { $count } linhas do ERP por enviar
}
page-statuses = Pedidos em aberto
page-deadlines = Prazos das próximas 24 horas
page-deadlines-said = Despacho: { $ship_past } vencidos e { $ship } nas próximas 24 horas. Nota fiscal: { $invoice_past } vencidos e { $invoice } nas próximas 24 horas.
page-past = vencido
page-lanes = Chamadas ao marketplace
page-behind = Por trás das cenas

# As listas e a página de um pedido.
page-orders = Pedidos
page-errors = Erros
page-queue = Fila
page-webhooks = Webhooks
page-search = Busca
page-search-hint = Pedido, SKU, produto, NF-e ou comando
page-search-short = Pedido, SKU, NF-e ou comando
page-search-empty = Escreva um número de pedido, um SKU, parte do nome de um produto, o número de uma NF-e, de um comando, de uma remessa ou do ERP.
page-search-none-yet = Nada do que foi lido até agora tem o nome { $asked }: { $reading }.
page-search-none = Nada tem o nome { $asked }: confira o número, o SKU ou o nome do produto.
page-no-orders = nenhum pedido nesta lista
page-no-webhooks = nenhum webhook guardado
page-no-rows-shown = nenhum registro com este filtro
page-no-webhooks-shown = nenhum webhook com este filtro
page-list-open = Em aberto
page-list-not-taken = O ERP não pegou
page-first-rows = Só os primeiros { $count }; as tabelas têm todos.
page-order = Pedido
page-status = Situação
page-total = Total
page-placed = Feito em
page-ship-by = Despachar até
page-is-late = atrasado
page-causes = Por causa
page-waiting = Espera (continua sozinho)
page-count = Quantos
page-cause = Causa
page-names = Quais
page-since = Desde
page-what = O quê
page-error = Motivo e próximo passo
page-all = Tudo
page-delivery = Entrega
page-event = Evento
page-arrived = Chegou em
page-handled = Tratado em
page-delivery-open = na fila
page-delivery-handled = tratados
page-label = etiqueta { $label }
page-labels = Etiquetas
page-void = sem valor
page-facts = Dados
page-timeline = Linha do tempo
page-support = Copiar para o suporte
page-support-note = Horas, situações e códigos; nada sobre pessoas.
page-missing = não encontrado no marketplace desde { $since }, confirmado { $count } vezes
page-unknown-thing = O espelho não conhece { $asked }.
page-unknown-thing-next = Confira o número e a loja; a busca procura em todas.
page-several-stores = O pedido { $number } existe em mais de uma loja.
page-several-stores-next = Escolha a loja:
page-not-found-next = Este endereço não leva a nada. Comece por:
page-nul = O endereço tem um caractere que nenhum registro tem (%00).
page-nul-next = Digite o nome de novo, sem o que foi copiado ao redor dele.
page-unavailable = O banco de dados não responde agora.
page-unavailable-next = Tente de novo em alguns segundos; a primeira página diz o que há.

# Os atos dos operadores.
page-acts = Ações
page-no-acts = nenhuma ação ainda
page-login = Entrar
page-logout = Sair
page-token = Senha de operador (token)
page-token-where = A senha está no arquivo de [http] operators_file (espelho.toml), em uma linha NOME:operator:SENHA. Para criar uma: openssl rand -hex 16 e uma linha nova nesse arquivo; ele é lido a cada entrada.
page-login-wrong = Senha desconhecida.
page-login-wait = Tentativas demais: espere um minuto.
page-mend-replay = Tratar de novo
page-mend-replay-shown = { $count ->
    [1] Tratar de novo 1 webhook já tratado
   *[other] Tratar de novo { $count } webhooks já tratados
}
page-mend-replay-many = Tratar de novo os webhooks já tratados, mais de { $count }
page-mend-pause = Pausar
page-act-replay = { $count ->
    [1] Tratar de novo 1 webhook?
   *[other] Tratar de novo { $count } webhooks?
}
page-act-pause = { $count ->
    [1] Pausar 1 loja
   *[other] Pausar { $count } lojas
} ({ $scope }) por { $minutes } minutos? Nada se perde: o que espera é recuperado depois.
page-act-resume = { $count ->
    [1] Encerrar 1 pausa?
   *[other] Encerrar { $count } pausas?
}
page-act-confirm = Confirmar
page-act-cancel = Voltar
page-act-again = Para agir aqui, entre com a sua senha de operador: a pergunta volta em seguida.
page-act-login = Para agir aqui, entre com a sua senha de operador. A linha de comando abaixo faz o mesmo.
page-act-viewer = { $name } só pode ver. A linha de comando abaixo faz o mesmo, para quem tem acesso à máquina.
page-act-off = Agir pela página está desligado. Para ligar: em espelho.toml, [http] operators_file = "operators"; no arquivo (chmod 600), uma linha NOME:operator:SENHA para cada pessoa; depois sudo espelho reload. A linha de comando faz o mesmo.
page-act-form = Este formulário é de outra sessão: volte à página e tente de novo.
page-act-not-allowed = Esta pessoa não pode agir: veja o arquivo de operadores.
page-act-nothing = Nada a fazer: isto já foi resolvido ou mudou nesse meio-tempo.
page-act-else = Ou encerrar
page-act-done = { $count ->
    [0] Nada mudou.
    [1] Feito: 1 registro.
   *[other] Feito: { $count } registros.
}
page-when = Quando
page-who = Quem
page-before = Antes
page-after = Depois
page-metrics = métricas
page-of-stores = ({ $count ->
    [1] 1 loja
   *[other] { $count } lojas
})
page-cut-short = interrompido
page-act = Agir
page-act-retry = { $count ->
    [1] Tentar de novo 1 registro?
   *[other] Tentar de novo { $count } registros?
}
page-act-release = { $count ->
    [1] Liberar 1 registro, uma vez?
   *[other] Liberar { $count } registros, uma vez?
}
page-act-ignore = { $count ->
    [1] Desistir de 1 registro?
   *[other] Desistir de { $count } registros?
}
page-act-resend = { $count ->
    [1] Enviar de novo 1 registro, porque você conferiu que não teve efeito?
   *[other] Enviar de novo { $count } registros, porque você conferiu que não tiveram efeito?
}
page-act-happened = { $count ->
    [1] Encerrar 1 registro, porque você conferiu que teve efeito? Nada mais é enviado; na linha de comando, isto se chama ignore.
   *[other] Encerrar { $count } registros, porque você conferiu que tiveram efeito? Nada mais é enviado; na linha de comando, isto se chama ignore.
}
page-act-bring-back = { $count ->
    [1] Trazer de volta 1 registro ignorado?
   *[other] Trazer de volta { $count } registros ignorados?
}
page-after-paused = em pausa até { $until }
page-after-happened = encerrado: aconteceu
page-after-resumed = pausa encerrada
page-after-now = agora: { $states }
page-after-deleted = registro excluído
page-to-decide = Para decidir

# Preço e estoque de um produto, como estão no espelho.
page-product-prices = Preços
page-product-stock = Estoque
page-product-price = preço { $price } { $unit }
page-for-sale = à venda
page-not-for-sale = fora de venda
page-product-tier = a partir de { $from }: { $price }
page-product-level = { $location }: { $quantity } em estoque, { $reserved } reservados, { $available } disponíveis

# Antes da primeira leitura completa nada é “nenhum”.
page-unread = a primeira leitura completa ainda não terminou
page-unread-begins = a primeira leitura está começando
page-unread-so-far = a primeira leitura está em andamento: { $read }
page-read = { $seen } { $what }
page-read-of = { $seen } de { $total } { $what }
