# Alarmes (contrato 4). A mensagem diz o que há; `.next` diz o próximo passo.

alarm-service-stopped = O serviço está parado: nenhum sinal de vida há { $seconds }.
    .next = systemctl start espelho
alarm-service-never-started = O serviço ainda não foi iniciado.
    .next = systemctl enable --now espelho
alarm-disk-full = O disco do banco de dados está cheio ({ $mebibytes } MiB livres): nada mais pode ser gravado.
    .next = libere espaço no disco do banco de dados; o espelho continua sozinho
alarm-database-busy = O banco de dados está bloqueado por { $holder }.
    .next = encerre a transação de { $holder }; o espelho continua sozinho
alarm-database-busy-unnamed = O banco de dados está bloqueado por outro programa.
    .next = encerre o programa que mantém uma transação aberta no banco; o espelho continua sozinho
alarm-database-unreachable = O banco de dados não aceita gravações: { $detail }.
    .next = veja se o servidor do banco está no ar e aceita gravações; o espelho continua sozinho
alarm-clock-behind = O relógio desta máquina está { $span } atrasado em relação ao do marketplace.
    .next = timedatectl set-ntp true
alarm-clock-ahead = O relógio desta máquina está { $span } adiantado em relação ao do marketplace.
    .next = timedatectl set-ntp true
alarm-marketplace-unreachable = O marketplace ({ $address }) não responde há { $span }: { $detail }.
    .next = veja se a internet desta máquina funciona: curl -sS { $address }; o espelho tenta de novo sozinho
alarm-marketplace-errors = O marketplace responde com erro há { $span }: { $detail }.
    .next = nada a fazer aqui: o espelho tenta de novo sozinho; se durar, avise o suporte do marketplace
alarm-throttled = O marketplace recusa chamadas (429) há { $span }, embora o limite seja respeitado.
    .next = veja se outro programa usa a mesma credencial; o espelho tenta de novo sozinho
alarm-credential-refused = O marketplace recusa o usuário ou a senha da loja { $store } ({ $place }).
    .next = corrija { $place }; o espelho percebe sozinho. Para provar: espelho doctor --login
alarm-foreign-login = Outro programa usa a credencial da loja { $store }: cada login encerra o token do outro.
    .next = crie no portal uma credencial para cada programa, escreva a nova no arquivo da loja e rode: systemctl reload espelho
alarm-scope-missing = A credencial da loja { $store } não tem a permissão { $scopes }.
    .next = dê a permissão à credencial no portal do vendedor; o espelho percebe sozinho
alarm-not-held = O serviço não cuida da loja { $store }: { $why }
    .next = espelho doctor
alarm-token-expires = O token da loja { $store } vence em { $end } e ainda não foi renovado.
    .next = espelho doctor --login
alarm-webhook-elsewhere = O webhook da loja { $store } está registrado em outro endereço: { $registered }.
    .next = espelho webhook move { $store }
alarm-webhooks-unverified = { $count } webhooks seguidos da loja { $store } com assinatura desconhecida.
    .next = informe webhook.secret_file; ou apague o webhook no portal do vendedor: o próximo login cria outro
alarm-webhooks-missing = Os webhooks da loja { $store } não chegam: { $missed ->
        [one] 1 mudança foi achada
       *[other] { $missed } mudanças foram achadas
    } sem aviso em { $address }.
    .next = veja se { $address } chega a este serviço: espelho doctor
alarm-unknown-store = { $count ->
        [one] 1 linha do ERP é
       *[other] { $count } linhas do ERP são
    } de uma loja que não existe na configuração: { $words }
    .next = corrija a coluna store; espelho errors --code unknown_store
alarm-failed = { $count ->
        [one] 1 registro
       *[other] { $count } registros
    } da loja { $store } com falha: { $words } ({ $code })
    .next = espelho errors --store { $store } --code { $code }
alarm-noted = { $count ->
        [one] 1 registro concluído
       *[other] { $count } registros concluídos
    } da loja { $store } com aviso: { $words } ({ $code })
    .next = espelho errors --store { $store } --code { $code }
alarm-held = { $count ->
        [one] 1 registro retido
       *[other] { $count } registros retidos
    } por uma proteção na loja { $store }: { $words }
    .next = espelho held; para liberar: espelho release { $row } --store { $store }
alarm-doubtful = { $count ->
        [one] 1 envio
       *[other] { $count } envios
    } da loja { $store } sem prova do resultado: { $words }
    .next = confira no portal do vendedor e decida: espelho retry { $row } --store { $store } ou espelho ignore { $row } --store { $store }
alarm-waiting = { $count ->
        [one] 1 registro espera
       *[other] { $count } registros esperam
    } há mais de uma hora na loja { $store }: { $words }
    .next = espelho explain { $row } --store { $store }
alarm-late-inbox = { $count ->
        [one] 1 webhook espera
       *[other] { $count } webhooks esperam
    } na loja { $store }, o mais antigo há { $span }.
    .next = espelho status --store { $store }
alarm-late-rows = { $count ->
        [one] 1 linha do ERP espera
       *[other] { $count } linhas do ERP esperam
    } a vez na loja { $store }, a mais antiga há { $span }.
    .next = espelho plan --store { $store }
alarm-late-sweep = Leitura atrasada na loja { $store }: { $sweep }, sem resultado há { $span }.
    .next = espelho status --store { $store }
alarm-late-complete = A loja { $store } está sem conciliação completa há { $span }.
    .next = espelho --resync --store { $store }
alarm-run-failed = A última conciliação da loja { $store } não terminou bem: { $why }
    .next = espelho --resync --store { $store }
alarm-deadline-near = { $count ->
        [one] 1 prazo vence
       *[other] { $count } prazos vencem
    } em 24 horas na loja { $store } ({ $kind }); o primeiro, { $key }, em { $at }.
    .next = espelho explain { $key } --store { $store }
alarm-deadline-past = { $count ->
        [one] 1 prazo vencido
       *[other] { $count } prazos vencidos
    } na loja { $store } ({ $kind }), e { $near } a vencer em 24 horas; o primeiro, { $key }, em { $at }.
    .next = espelho explain { $key } --store { $store }

# O que ainda não tem prova.
unproved-database = Nenhuma gravação no banco de dados foi confirmada há pouco.
unproved-mirror = A primeira leitura completa da loja { $store } ainda não terminou.
unproved-marketplace = O marketplace não respondeu há pouco pela loja { $store }.
unproved-owner = Ainda ninguém cuida da loja { $store }.

# Prazos, como em v_deadlines.kind.
word-deadline-ship-by = despacho
word-deadline-invoice-by = nota fiscal

# Palavras de uma linha escrita antes que as palavras tivessem códigos, ou que o marketplace disse.
raw = { $error }
    .next = { $hint }
