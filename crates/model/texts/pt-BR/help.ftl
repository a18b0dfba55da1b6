# A ajuda da linha de comando: help-COMANDO, e help-COMANDO--ARGUMENTO ou, onde vale para todos, help--ARGUMENTO.

help--config = A configuração: PASTA/espelho.toml e PASTA/stores/LOJA.toml [padrão: $ESPELHO_CONFIG, senão /etc/espelho se existir, senão ./config]
help--json = Responde com um objeto JSON na saída padrão
help--lang = O idioma das respostas: pt-BR ou en [padrão: o de LC_ALL, LC_MESSAGES ou LANG, senão o da instalação]
help--help = Mostra esta ajuda
help--version = Mostra a versão
help--subcommand = Mostra a ajuda deste comando
help--store = Só esta loja; onde se grava algo e há várias, qual delas
help--sku = De qual SKU
help--location = Onde: stock_locations.location_id
help--number = O número do pedido
help--entity = Qual tabela, como em espelho errors
help--key = Qual linha, como em espelho errors
help--all = Cada linha que falhou, está retida ou em dúvida (de ENTIDADE, se houver)

help-espelho = Mantém em dia as tabelas do ERP de uma loja e um marketplace brasileiro.
help-espelho--resync = Concilia tudo uma vez e termina; uma conciliação interrompida é retomada
help-espelho--store = Só esta loja (pode repetir)
help-espelho--only = Só estes recursos, separados por vírgula: orders e products (os dois, se nada for dito), shipments, tracking, invoices, events, financial, labels, campaigns, media_images, profile
help-espelho--since = Só pedidos criados desde este dia (31/01/2026 ou 2026-01-31); nada é marcado como removido
help-espelho--restart = Recomeça em vez de retomar
help-espelho--deep = Lê cada detalhe, também dos registros que a lista mostra iguais
help-espelho--dry_run = Lê as listas e diz o que seria feito; não muda nada
help-espelho--accept_gone = Marca registros como removidos, quantos forem
help-run = O serviço: migra o banco, assume as lojas, concilia no horário, recebe webhooks, envia, serve estado e métricas
help-demo = Um marketplace inteiro, um espelho e o serviço em um só processo, sem configuração
help-demo--once = Termina depois da primeira conciliação completa e mostra o que foi espelhado
help-demo--dir = Onde pôr o banco de dados [padrão: uma pasta temporária nova]
help-demo--orders = Pedidos da loja de demonstração
help-demo--products = Produtos da loja de demonstração
help-demo--seed = Outro número, outra loja
help-sandbox = O marketplace inteiro em um programa: serve a API de integração com dados gerados ou reais
help-sandbox--listen = Endereço e porta; a porta 0 usa uma livre
help-sandbox--storage_listen = Endereço e porta do servidor de arquivos; sem isto, uma porta livre ao lado da API
help-sandbox--control = Serve também /_sandbox/: estatísticas, diário, falhas e mudanças, sem token; quem alcança o endereço pode mudar tudo
help-sandbox--open_store_page = Abre as rotas da página da loja, que estão em BETA e normalmente respondem 403
help-sandbox--json = Mostra um objeto JSON com o endereço e todas as credenciais
help-sandbox--olist = Serve os dados da Olist: a pasta com os sete arquivos .csv.gz
help-sandbox--olist_split = De quem são os pedidos da Olist: todos de uma loja, ou cada um do seu vendedor, sem os que não têm itens
help-sandbox--stores = Lojas a gerar
help-sandbox--orders = Pedidos a gerar para cada loja
help-sandbox--products = Produtos a gerar para cada loja
help-sandbox--seed = A mesma semente e as mesmas quantidades dão as mesmas lojas, credenciais e pedidos
help-sandbox--fixed_dates = Data os pedidos até 31 de março de 2026, e não até o dia do início: respostas iguais, byte a byte, em qualquer dia
help-sandbox--rate = Chamadas por minuto que cada token pode fazer, ou off
help-sandbox--rate_window = Como o minuto do limite é contado
help-sandbox--list_shape = A forma de meta nas listas, que a documentação da API deixa em aberto
help-sandbox--numbers_as_strings = Escreve decimais e contagens como texto JSON
help-sandbox--ignore_page = Responde a página 1, seja qual for a página pedida
help-sandbox--strict_scopes = Exige as permissões de leitura e escrita também nas rotas de produto, para as quais a documentação não cita nenhuma
help-sandbox--public_webhooks = Recusa webhooks que não são https públicos, como o marketplace faz; sem isto, receptores locais servem
help-init = Faz seis perguntas, grava a configuração, cria o banco de dados e experimenta tudo
help-init--base_url = O endereço da API do marketplace
help-init--username = O usuário, do portal do vendedor
help-init--password_file = Um arquivo de onde a senha é lida, em vez de digitá-la; ela é copiada para a configuração
help-init--database = O banco de dados [padrão: sqlite:espelho.db]
help-init--webhook = O endereço público do webhook, com o caminho /webhooks/LOJA; vazio: só consultas
help-init--language = O idioma dos textos no banco de dados e dos comentários da configuração: pt-BR ou en
help-init--store = O nome da loja nas tabelas e nos comandos [padrão: a primeira parte do usuário]
help-init--replace = Substitui o arquivo da loja, se houver um
help-check = Confere a configuração, e mais nada
help-reload = Faz o serviço que roda ler a configuração de novo, e diz o que houve; termina com 3 se uma parte precisa de reinício ou se não há resposta em 10 s
help-doctor = Examina tudo o que precisa funcionar e diz, de cada coisa, o que fazer
help-webhook = Os webhooks
help-webhook-move = Dá ao webhook de uma loja o endereço configurado, com o próximo login; um serviço no ar relê antes a configuração; quem recebe no endereço antigo deixa de receber
help-webhook-move--key = A loja
help-webhook-move--store = A loja, como nos outros comandos
help-webhook-replay = Faz as entregas guardadas serem tratadas de novo: o serviço relê aquilo de que elas falam, e nada se duplica
help-webhook-replay--delivery = Qual entrega: o número dela na caixa de entrada, ou a chave em espelho errors
help-webhook-replay--all = Todas as entregas guardadas que as opções escolhem
help-webhook-replay--since = Só as que chegaram a partir daí: um intervalo até agora (90s, 30m, 2h, 1d), um dia (2026-01-31, 31/01/2026) ou uma hora (2026-01-31T14:05, local se não terminar com um fuso)
help-webhook-replay--event = Só deste evento: order.paid
help-webhook-replay--dry_run = Diz quais são, e não muda nada
help-webhook-test = Pede ao marketplace uma entrega de teste para o webhook de uma loja, e diz o que aconteceu
help-token = Os tokens
help-token-status = O que o banco sabe do token, da senha e dos logins de cada loja, sem o token; nunca faz login
help-notice = Os avisos de alarmes para pessoas
help-notice-test = Envia um aviso de teste por cada canal configurado e diz o que houve com cada um; termina com 1 quando nenhum saiu, 3 quando alguns não saíram
help-notice-test--channel = Só por este canal: ping, webhook, smtp ou exec
help-migrate = Cria ou migra o banco de dados e termina
help-migrate--rehearse = Roda as migrações pendentes em uma cópia, com o serviço no ar: o que mudam, quanto levam, quem espera por elas, que linhas há depois. Nada muda no banco de dados
help-migrate--no_backup = Não faz uma cópia antes de migrar (SQLite)
help-backup = Copia o banco de dados para uma pasta nova, com o serviço no ar (SQLite)
help-backup--path = A pasta, que não pode existir [padrão: backups/espelho-HORA ao lado do banco]
help-backup--next_within = Para um timer: um alarme se nenhum outro backup der certo neste tempo (36h, 8d); 0h acaba com isso
help-backup-verify = Restaura uma cópia em um lugar à parte, confere tudo nela, e apaga esse lugar
help-backup-verify--path = A cópia [padrão: a mais nova em backups, ao lado do banco de dados]
help-backup-verify--next_within = Para um timer: um alarme se nenhuma outra prova der certo neste tempo (36h, 8d); 0h acaba com isso
help-restore = Põe uma cópia no lugar do banco de dados, ou onde não há nenhum (SQLite); o serviço deve estar parado
help-restore--path = A pasta feita por espelho backup
help-restore--replace = Também onde já há um banco; os arquivos dele são guardados ao lado
help-prune = Apaga agora o que o serviço apaga sozinho (entregas tratadas, efeitos resolvidos, arquivos de etiqueta sem valor, e o que [retention] limita) e diz quanto sai
help-prune--older_than = Guarda os registros pelo menos por este tempo, se os limites do serviço são menores, e apaga do feed de mudanças o que tem esta idade e todo consumidor confirmou: 1d, 90d; no mínimo um dia
help-prune--dry_run = Conta, e não apaga nada
help-status = Como tudo está: o que está atrasado, o que falhou, por quê e o que fazer; termina com 0 só quando está tudo em dia, com 2 por um erro na configuração, senão com 3
help-status--store = Só esta loja, com seus dados, limite e varreduras
help-status--watch = Mostra de novo a cada dois segundos, até Ctrl-C
help-status--alive = Só pergunta se o serviço responde e nada nele está parado, para monitores: termina com 0 ou 1, sejam quais forem os alarmes (2 se espelho.toml não puder ser lido)
help-errors = O que falhou, está retido, em dúvida ou esperando, por causa, com o próximo passo
help-errors--all = Cada registro, e não só as causas
help-explain = A história de uma coisa na ordem do tempo: entregas, espelho, o que o ERP pede, cada chamada com sua prova
help-explain--entity = O tipo, como no feed: order, product, shipment…
help-explain--key = Qual, como no feed
help-get = Mostra um registro do espelho com tudo o que lhe pertence
help-get-order = Um pedido: status, valores, prazos, itens, remessas, documentos fiscais; --json dá todas as colunas com o objeto como veio
help-get-order--store = A loja, quando várias têm um pedido com este número
help-held = O que as proteções retêm, e por quê
help-release = Deixa passar, uma vez, o que as proteções retêm
help-retry = Tenta de novo o que falhou, está em dúvida ou foi ignorado
help-ignore = Deixa de lado um registro que falhou, está retido ou ainda está na fila, ou encerra um em dúvida que teve efeito: nada mais é enviado; espelho retry o traz de volta
help-forget = Apaga uma pessoa de tudo o que o espelho guarda (LGPD), e lembra disso, para que nenhuma leitura posterior a traga de volta; valores, itens e números fiscais ficam
help-forget--person = Um e-mail, um CPF ou CNPJ, um id de cliente, ou o número de um pedido da pessoa
help-forget--everyone = Todas as pessoas da loja que --store indica
help-forget--yes = Com --everyone: não pergunta
help-forget--dry_run = Conta o que seria apagado; não altera nada
help-plan = O que seria enviado agora ao marketplace: cada chamada, com seu custo
help-plan--apply = Envia e termina; o serviço deve estar parado
help-stock = Grava um estoque desejado, ou um ajuste
help-stock-set = O estoque é este (erp_stock)
help-stock-set--quantity = Quanto
help-stock-adjust = O estoque sobe ou desce este tanto (comando stock.adjust)
help-stock-adjust--delta = Quanto a mais; abaixo de zero, a menos
help-price = Grava um preço desejado
help-price-set = A unidade custa isto (erp_prices)
help-price-set--price = Quanto
help-price-set--min_quantity = A partir desta quantidade
help-orders = Dá um comando sobre um pedido
help-orders-advance = Leva um pedido a outra situação (comando order.status)
help-orders-advance--status = A situação para onde levar
help-orders-advance--data = O que a situação pede, em JSON
help-orders-notes = Troca as observações de um pedido (comando order.notes)
help-orders-notes--text = O texto; vazio apaga
help-labels = Dá um comando sobre etiquetas
help-labels-generate = Manda gerar as etiquetas de um pedido (comando labels.generate)
help-labels-generate--format = a4, zebra, thermal ou zebra_pdf
help-labels-generate--regenerate = Também onde já há etiquetas, que são descartadas
help-campaigns = Dá um comando sobre uma campanha
help-campaigns-join = Adere a uma campanha com anúncios (comando campaign.opt_in)
help-campaigns-join--campaign = campaigns.id
help-campaigns-join--listings = campaign_listings.item_id
help-import = Grava o que um arquivo CSV diz: tudo, ou nada
help-import--kind = O que ele contém
help-import--file = O arquivo; a primeira linha nomeia as colunas
help-grants = Mostra o SQL que deixa um papel do PostgreSQL, o do ERP, ler o espelho e escrever o que quer, e nada mais
help-grants--role = O papel
help-feed = O feed de mudanças, um objeto JSON por linha
help-feed--consumer = Mostra o que o leitor deste nome não confirmou; sem isto, tudo o que há
help-feed--follow = Espera por mais
help-feed--ack = Confirma que tudo até este número (1 ou mais) foi tratado, e não mostra nada
help-feed--limit = Mostra no máximo este tanto (1 ou mais)
help-audit = Compara o espelho com o marketplace e não muda nenhum dos dois; termina com 3 quando algo difere
help-audit--only = Só estes, separados por vírgula: orders (com seus detalhes), products, campaigns (com seus anúncios), media_images, price_lists, profile
help-audit--sample = Detalhes de cada recurso que são lidos e comparados; as listas são comparadas por inteiro
help-completions = Mostra o autocompletar para um shell
help-completions--shell = O shell
help-man = Mostra o manual do espelho, ou de um comando
help-man--topic = O comando
help-man--dir = Grava todas as páginas nesta pasta, como os pacotes as querem
help-help = Mostra a ajuda de um comando

help-heading-one-shot-reconciliation = Conciliação única
help-heading-serving = Serviço
help-heading-what-there-is = O que há
help-heading-request-limit = Limite de chamadas
help-heading-where-the-api-document-leaves-a-choice = Onde a documentação da API deixa escolha
help-heading-commands = Comandos
help-heading-options = Opções
help-heading-arguments = Argumentos
help-heading-usage = Uso:
help-heading-command-name = COMANDO
help-heading-options-name = OPÇÕES
help-heading-default = padrão
help-heading-values = valores

help-name-addr = ENDEREÇO
help-name-campaign = CAMPANHA
help-name-channel = CANAL
help-name-code = CÓDIGO
help-name-command = COMANDO
help-name-date = DATA
help-name-delivery = ENTREGA
help-name-delta = DIFERENÇA
help-name-dir = PASTA
help-name-entity = ENTIDADE
help-name-event = EVENTO
help-name-file = ARQUIVO
help-name-format = FORMATO
help-name-key = CHAVE
help-name-kind = TIPO
help-name-lang = IDIOMA
help-name-listings = ANÚNCIOS
help-name-location = LOCAL
help-name-name = NOME
help-name-number = NÚMERO
help-name-part = PARTE
help-name-path = CAMINHO
help-name-person = PESSOA
help-name-price = PREÇO
help-name-quantity = QUANTIDADE
help-name-resource = RECURSO
help-name-seconds = SEGUNDOS
help-name-seq = NÚMERO
help-name-span = DURAÇÃO
help-name-state = ESTADO
help-name-status = SITUAÇÃO
help-name-store = LOJA
help-name-text = TEXTO
help-name-time = HORA
help-name-user = USUÁRIO

help-exit-codes = Códigos de saída: 0 completo, 1 falhou, 2 uso ou configuração errados, 3 parcial, 4 autenticação, 5 recusado por uma proteção, 6 outra instância tem a loja, 130 encerrado na hora por um segundo sinal.
help-doctor-exit-codes =
    Códigos de saída:
      0  nada está vermelho, e tudo o que está configurado pôde ser verificado
      1  algo está vermelho
      2  a configuração falta ou está errada, ou a linha de comando está
      3  nada está vermelho, e algo configurado não pôde ser verificado
      4  só credenciais estão vermelhas

    Amarelo funciona; o que não está configurado, ou ainda não existe, não conta. Uma senha que um login anterior provou conta como verificada; para testá-la agora: espelho doctor --login

help-unknown-argument = argumento desconhecido: { $argument }{ $similar ->
        [none] {""}
       *[other] ; parecido: { $similar }
    }
    .next = { $help }
help-unknown-command = comando desconhecido: { $name }{ $similar ->
        [none] {""}
       *[other] ; parecido: { $similar }
    }
    .next = { $help }
help-not-among = “{ $value }” não é um valor de { $argument }; valem: { $known }
    .next = { $help }
help-wrong-value = “{ $value }” não serve para { $argument }: { $why }
    .next = { $help }
help-value-missing = falta o valor de { $argument }
    .next = { $help }
help-value-surplus = “{ $value }” é um valor a mais para { $argument }
    .next = { $help }
help-argument-missing = falta: { $arguments }
    .next = { $help }
help-conflict = { $argument } não vai junto com { $other }
    .next = { $help }
help-command-missing = falta o comando
    .next = { $help }
help-sandbox-guide =
    Exemplos:
      espelho sandbox                              uma loja, 200 pedidos, 60 produtos, até Ctrl-C
      espelho sandbox --control                    o mesmo, e tudo pode ser mudado enquanto roda
      espelho sandbox --stores 3 --orders 5000     três lojas de 5.000 pedidos
      espelho sandbox --olist DIR                  99.441 pedidos reais
      espelho sandbox --rate off --json            sem limite de chamadas; as credenciais em JSON

    Onde olhar:
      http://127.0.0.1:8799/                uma página com as credenciais, os primeiros comandos e os controles
      http://127.0.0.1:8799/openapi.json    a descrição de cada rota, para ferramentas
      http://127.0.0.1:8799/_sandbox/       a lista de controles, com --control
help--login = Prova também as senhas: um login por loja, que encerra o token dela e lhe dá um novo
help--new = Cria um banco novo mesmo que outro lugar já tenha um: a pasta de trabalho ou /var/lib/espelho
help--yes = Não pergunta
help--ignored = Com --all: o que foi ignorado, em vez do que falhou; um comando em dúvida só volta pelo número
help--wait = Espera pelo resultado, mesmo quando a saída não é um terminal: até tantos segundos (1 a 3600), ou 5
help--no_wait = Não espera, mesmo num terminal
help--code = Só esta causa
help--first = O que é, como no feed de mudanças: order, product, shipment…; sem isso, conta tudo o que tem a CHAVE
help--second = Qual: o número de um pedido, um SKU, o número de um comando, o id de uma remessa
help-pause = Para por um tempo o trabalho do serviço: todo, ou uma parte. As entregas são recebidas e guardadas, e tudo é recuperado depois
help-pause--store = Só esta loja (repetível); sem isso, todas
help-pause--only = Só esta parte: push (envio), pull (leituras periódicas e conciliações), webhooks (as entregas são guardadas, não tratadas), stock (estoque), prices (preços) ou commands (comandos)
help-pause--span = Por quanto tempo: 90s, 30m, 2h, 1d; no máximo 30 dias
help-resume = Termina pausas; o que esperava é recuperado na hora
help-resume--store = Só esta loja (repetível); sem isso, todas
help-ignore--state = Com --all: failed ou held; o que falhou e o que uma proteção retém são decididos à parte
help-resume--only = Só pausas desta parte
help-release--code = Com --all: só as linhas desta causa, como em espelho errors
help-retry--code = Com --all: só as linhas desta causa, como em espelho errors
help-ignore--code = Com --all: só as linhas desta causa, como em espelho errors
