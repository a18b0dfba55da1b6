# Alarmes (contrato 4). A mensagem diz o que há; `.next` diz o próximo passo.

alarm-service-stopped = O serviço está parado: nenhum sinal de vida há { $seconds }.
    .next = sudo systemctl enable --now espelho espelho.socket; journalctl -u espelho -n 20
alarm-service-never-started = O serviço ainda não foi iniciado.
    .next = sudo systemctl enable --now espelho espelho.socket
alarm-disk-full = { $mebibytes ->
        [0] O disco do banco de dados está cheio: nada mais pode ser gravado.
       *[other] O disco do banco de dados está quase cheio: restam { $mebibytes } MiB.
    }
    .next = libere espaço { $folder ->
        [none] no disco do banco de dados
       *[other] no disco de { $folder } (df -h { $folder })
    }; o espelho continua sozinho
alarm-database-busy = O banco de dados está bloqueado por { $holder }.
    .next = encerre a transação que bloqueia o banco ({ $holder }){ $process ->
        [none] {""}
       *[other] {" "}(se não souber como: sudo kill { $process })
    }; o espelho continua sozinho
alarm-database-busy-session = O banco de dados está bloqueado: a sessão { $session } do usuário { $user } (programa: { $application }) mantém a tabela { $table } numa transação aberta.
    .next = encerre a transação no programa ou, no PostgreSQL, a sessão: SELECT pg_terminate_backend({ $session }); o espelho continua sozinho
alarm-database-busy-unnamed = O banco de dados está bloqueado por outro programa.
    .next = sudo espelho doctor diz qual é o programa; encerre a transação dele, e o espelho segue sozinho
alarm-database-unreachable = O banco de dados não aceita gravações: { $detail }.
    .next = veja a causa com espelho doctor (servidor no ar? permissão de escrita?); o espelho continua sozinho
alarm-database-refuses = O banco de dados não pode ser usado: { $detail }.
    .next = { $step }; o espelho continua sozinho
alarm-database-read-only = O banco de dados está somente para leitura: { $detail }. Nada mais é lido do marketplace até que ele aceite gravações; as entregas de webhooks são recusadas, e o marketplace as repete.
    .next = permita a gravação: { $file ->
        [none] veja default_transaction_read_only e o papel do servidor
       *[other] os arquivos e a pasta têm de ser do usuário do serviço (sudo chown espelho:espelho { $file }*), e o disco, gravável (mount, dmesg)
    }; o espelho continua sozinho
alarm-database-replaced = { $file } foi apagado ou trocado enquanto o serviço o usava. O serviço salva o que tem e termina.
    .next = journalctl -u espelho diz onde está a cópia: ponha-a de volta com espelho restore e inicie o serviço
alarm-schema-changed = O banco de dados não está como o espelho o fez: { $count } objetos faltam, estão desligados ou são outros ({ $objects }). Gravações do ERP podem passar despercebidas.
    .next = reinicie o serviço, que os refaz; uma tabela que falta só volta com seu nome antigo ou de uma cópia (espelho restore)
alarm-clock-behind = O relógio desta máquina está { $span } atrasado em relação ao do marketplace.
    .next = sudo timedatectl set-ntp true
alarm-clock-ahead = O relógio desta máquina está { $span } adiantado em relação ao do marketplace.
    .next = sudo timedatectl set-ntp true
alarm-configuration-refused = A configuração nova foi recusada, e o serviço continua com a anterior: { $mistake }{ $more ->
        [0] {""}
        [1] {" "}(e mais 1 erro)
       *[other] {" "}(e mais { $more } erros)
    }
    .next = { $found_in ->
        [database] { $step } Para ver se basta: espelho doctor
       *[files] corrija o arquivo e confira com: espelho check; depois: sudo espelho reload
    }
alarm-configuration-unusable = A configuração foi mudada e tem um erro; o serviço trabalha com a anterior, e não poderia ser iniciado de novo: { $mistake }{ $more ->
        [0] {""}
        [1] {" "}(e mais 1 erro)
       *[other] {" "}(e mais { $more } erros)
    }
    .next = corrija o arquivo e confira com: espelho check; depois: sudo espelho reload
alarm-marketplace-unreachable = O marketplace ({ $address }) não responde há { $span }: { $detail }.
    .next = { $fault ->
        [own] é um endereço desta máquina: inicie o servidor que responde nele (um sandbox: espelho sandbox --listen { $listen }), ou corrija base_url no arquivo da loja e rode: sudo espelho reload. O espelho tenta de novo sozinho
        [refused] não é a internet daqui: a máquina em { $address } recusa a conexão, ou seja, o servidor está fora do ar, ou a porta em base_url é outra. O espelho tenta de novo sozinho; se durar, avise o suporte do marketplace
        [name] veja se outro site abre nesta máquina (curl -sSI https://example.com): se não abrir, o problema é a internet ou o DNS daqui; se abrir, confira base_url no arquivo da loja. O espelho tenta de novo sozinho
        [trust] não é a internet daqui: { $address } responde, mas sem um TLS em que se possa confiar. Confira a hora desta máquina (timedatectl) e se um proxy ou antivírus abre o TLS; se não, avise o suporte do marketplace. O espelho tenta de novo sozinho
       *[network] veja se outro site abre nesta máquina (curl -sSI https://example.com): se não abrir, o problema é a internet daqui; se abrir, é o marketplace: se durar, avise o suporte dele. O espelho tenta de novo sozinho
    }
alarm-marketplace-errors = O marketplace responde com erro há { $span }: { $detail }.
    .next = nada a fazer aqui: o espelho tenta de novo sozinho; se durar, avise o suporte do marketplace
alarm-marketplace-routes-fail = Algumas chamadas ao marketplace falham há { $span } ({ $routes }): { $detail }. As outras funcionam.
    .next = nada a fazer aqui: o espelho tenta de novo sozinho, e o que depende destas chamadas espera; se durar, avise o suporte do marketplace
alarm-throttled = O marketplace recusa chamadas (429) há { $span }, embora o limite seja respeitado.
    .next = veja se outro programa usa a mesma credencial; o espelho tenta de novo sozinho
alarm-unreadable-values = { $count ->
        [1] 1 valor do marketplace não pôde ser lido
       *[other] { $count } valores do marketplace não puderam ser lidos
    } na loja { $store }: { $fields }. A coluna de cada um está vazia (NULL); o texto recebido está em raw.
    .next = avise quem mantém o espelho, com os nomes dos campos; nada se perdeu: até lá, leia o valor em raw
alarm-mirror-differs = O espelho da loja { $store } difere do marketplace ({ $resource }): { $count } de { $compared } na auditoria de { $at }, e o espelho ainda não corrigiu.
    .next = veja quais linhas: espelho audit --store { $store }; leia-as de novo: espelho --resync --deep --only { $only } --store { $store }
alarm-credential-refused = O marketplace recusa o usuário ou a senha da loja { $store } ({ $place }); o espelho tenta de novo sozinho{ $token ->
        [works] {" "}e continua com o token que tem.
       *[gone] .
    }
    .next = corrija a senha em { $place }, e o espelho entra com ela na hora; para o username, ou uma senha em stores/{ $store }.toml: sudo espelho reload. Se estão certos, tente agora: espelho doctor --login
alarm-login-refused = O marketplace recusa o login da loja { $store } (422){ $fields ->
        [none] {""}
       *[other] {" "}por { $fields }
    }; o espelho tenta de novo sozinho{ $token ->
        [works] {" "}e continua com o token que tem.
       *[gone] .
    }
    .next = corrija em stores/{ $store }.toml o campo que ele recusa: username ou senha, se faltam; webhook.url é webhook.public_url, um endereço https que a internet alcança; depois: sudo espelho reload
alarm-password-unreadable = Loja { $store }: { $why }. O serviço trabalha com a senha que leu antes e não poderia ser iniciado de novo.
    .next = escreva a senha em { $file } (uma linha); depois: sudo chown espelho { $file } && sudo chmod 600 { $file }. O espelho nota sozinho
alarm-foreign-login = Outro programa usa a credencial da loja { $store }: cada login encerra o token do outro.
    .next = ache o programa que entra com este username: outro ERP, um hub, uma instalação antiga. Encerre-o, ou dê a ele uma credencial própria (portal do vendedor); depois: espelho doctor --login. Uma credencial nova para esta loja vai para stores/{ $store }.toml; depois: sudo espelho reload. Se não achar o programa, troque a senha no portal e no arquivo da loja
alarm-scope-missing = O marketplace recusa chamadas da loja { $store } por falta de permissões (403): { $scopes }.
    .next = marque-as na credencial, no portal do vendedor; o espelho percebe sozinho{ $rows ->
        [yes] , e envia de novo as linhas recusadas depois de: { $retry }
       *[no] {""}
    }
alarm-not-held = O serviço não cuida da loja { $store }: { $why }
    .next = espelho doctor
alarm-not-loaded = { $count ->
        [1] O serviço em execução não conhece a loja { $stores }
       *[other] O serviço em execução não conhece { $count } lojas da configuração ({ $stores })
    }: ele tem a configuração anterior, e ninguém cuida do que é novo.
    .next = sudo espelho reload
alarm-token-expires = O token da loja { $store } vence em { $end } e ainda não foi renovado.
    .next = espelho doctor --login
alarm-webhook-elsewhere = O webhook da loja { $store } está registrado em { $registered }; a configuração diz { $configured }.
    .next = se { $configured } é um engano, escreva { $registered } em webhook.public_url, em stores/{ $store }.toml, e rode: sudo espelho reload. Se outra instalação recebe em { $registered }, crie uma credencial para esta. Se o webhook deve vir para { $configured }: espelho webhook move { $store }
alarm-webhooks-unverified = { $count } webhooks seguidos da loja { $store } com assinatura desconhecida.
    .next = rode espelho webhook test --wait=20 --store { $store }. Se o teste chega, são estranhos que postam neste endereço: as entregas deles são recusadas, e não há nada a fazer. Se não chega, compare o segredo do webhook no portal do vendedor com o de webhook.secret_file; sem esse arquivo, apague o webhook no portal e reinicie o serviço: ele o faz de novo
alarm-webhooks-missing = Os webhooks da loja { $store } não chegam: { $missed ->
        [0] a entrega de teste não chegou a { $address }.
        [1] 1 mudança foi achada sem aviso em { $address }.
       *[other] { $missed } mudanças foram achadas sem aviso em { $address }.
    }
    .next = o que chega a { $address } tem de alcançar este serviço: compare webhook.public_url em stores/{ $store }.toml (se mudar: espelho webhook move { $store }), o proxy e webhooks.listen em espelho.toml (se mudar: sudo espelho reload); depois: espelho webhook test --wait=20 --store { $store }
alarm-webhooks-some-missing = Alguns webhooks da loja { $store } não chegam: de { $all } pedidos que mudaram nos últimos 15 minutos, { $unreported ->
        [1] 1 foi achado
       *[other] { $unreported } foram achados
    } sem aviso. Nada se perde: as varreduras os acham, só que mais tarde.
    .next = veja no portal do vendedor o histórico de entregas do webhook (respostas que não são 2xx, prazo esgotado) e compare com o proxy diante de webhooks.listen
alarm-unknown-store = { $count ->
        [1] 1 linha do ERP é de uma loja que não existe na configuração: { $words }
       *[other] { $count } linhas do ERP são de lojas que não existem na configuração; uma delas: { $words }
    }
    .next = veja as linhas e corrija a coluna store: { $see_all }
alarm-failed = { $count ->
        [1] 1 registro da loja { $store } com falha: { $words }
       *[other] { $count } registros da loja { $store } com falha; um deles: { $words }
    } ({ $code })
    .next = { $told ->
        [no] { $see_all }
       *[yes] { $step } (detalhes: { $see_all })
    }{ $ignore ->
        [none] {""}
       *[other] {" "}(para encerrar de vez: { $ignore })
    }
alarm-noted = { $count ->
        [1] 1 registro concluído da loja { $store } com aviso: { $words }
       *[other] { $count } registros concluídos da loja { $store } com aviso; um deles: { $words }
    } ({ $code })
    .next = { $told ->
        [no] { $see_all }
       *[yes] { $step } (detalhes: { $see_all })
    }
alarm-held = { $count ->
        [1] 1 registro retido por uma proteção na loja { $store }: { $words }
       *[other] { $count } registros retidos por uma proteção na loja { $store }; um deles: { $words }
    }
    .next = { $count ->
        [1] se for isso mesmo: { $release_one }; se não for, corrija o que o ERP gravou, ou desista: { $ignore_one }
       *[other] veja todos: { $see_all }; para liberar um: { $release_one }; para liberar todos: { $release_all }; para desistir de todos: { $ignore_all }
    }
alarm-held-zero = { $count ->
        [1] 1 registro retido por uma proteção na loja { $store }: { $words }
       *[other] { $count } registros retidos por uma proteção na loja { $store }; um deles: { $words }
    }
    .next = escreva um preço acima de zero; nenhuma liberação deixa este passar. Para desistir de uma linha: { $ignore_one }
alarm-doubtful = { $count ->
        [1] 1 envio da loja { $store } sem prova do resultado: { $words }
       *[other] { $count } envios da loja { $store } sem prova do resultado; um deles: { $words }
    }
    .next = { $told ->
        [no] veja o que aconteceu: { $see_one }; se não teve efeito: { $retry_one }; se teve: { $ignore_one }
       *[yes] { $step }
    }{ $count ->
        [1] {""}
       *[other] ; os outros têm os próprios passos: { $see_all }
    }
alarm-waiting = { $count ->
        [1] 1 registro espera há mais de uma hora na loja { $store }: { $words }
       *[other] { $count } registros esperam há mais de uma hora na loja { $store }; um deles: { $words }
    }
    .next = { $see_one }
alarm-late-inbox = { $count ->
        [1] 1 webhook espera
       *[other] { $count } webhooks esperam
    } na loja { $store }, o mais antigo há { $span }.
    .next = espelho status --store { $store }
alarm-late-rows = { $count ->
        [1] 1 linha do ERP espera
       *[other] { $count } linhas do ERP esperam
    } a vez na loja { $store }, a mais antiga há { $span }.
    .next = espelho plan --store { $store }
alarm-late-sweep = Leitura atrasada na loja { $store }: { $sweep }, sem resultado há { $span }.
    .next = espelho doctor diz se algo a impede; se não, ela espera a vez dentro do limite de chamadas e termina sozinha
alarm-late-complete = A loja { $store } está sem conciliação completa há { $span }.
    .next = espelho --resync --store { $store }
alarm-run-failed = A última conciliação da loja { $store } parou: { $why }
    .next = { $step }
alarm-deadline-near = { $count ->
        [1] 1 prazo vence nas próximas 24 horas
       *[other] { $count } prazos vencem nas próximas 24 horas
    } na loja { $store } ({ $kind }); o primeiro é o do pedido { $key }, em { $at }.
    .next = resolva primeiro o pedido { $key }; a história dele: espelho explain { $key } --store { $store }
alarm-deadline-past = { $count ->
        [1] 1 prazo vencido
       *[other] { $count } prazos vencidos
    } na loja { $store } ({ $kind }){ $near ->
        [0] {""}
        [1] , e 1 vence nas próximas 24 horas
       *[other] , e { $near } vencem nas próximas 24 horas
    }; o mais antigo é o do pedido { $key }, em { $at }.
    .next = resolva primeiro o pedido { $key }; a história dele: espelho explain { $key } --store { $store }

# O que ainda não tem prova.
unproved-database = Nenhuma gravação no banco de dados foi confirmada nos últimos 3 minutos.
unproved-database-stalls = Uma gravação no banco de dados está esperando: { $detail }. Se continuar, um alarme dirá a causa e o próximo passo.
unproved-mirror = A primeira leitura completa da loja { $store } ainda não terminou.
unproved-marketplace = Nenhuma resposta do marketplace para a loja { $store } nos últimos 3 minutos.
unproved-marketplace-fails = As últimas chamadas ao marketplace pela loja { $store } falharam: { $detail }. Se continuar, um alarme dirá o próximo passo.
unproved-marketplace-yet = Nenhuma resposta do marketplace para a loja { $store } desde que o serviço foi iniciado.
unproved-password = Nenhum login mostrou ainda se a senha da loja { $store } vale. O espelho tenta sozinho; agora: espelho doctor --login
unproved-owner = Ainda ninguém cuida da loja { $store }.
unproved-webhooks = Ainda não se sabe se os webhooks da loja { $store } chegam: nenhuma entrega mostrou isso ainda, e o espelho pede uma de teste sozinho. Se demorar: espelho webhook test --wait=20 --store { $store }
unproved-count = O marketplace conta { $remote } registros na loja { $store } ({ $resource }), e o espelho tem { $local }, desde { $since }: não se sabe se falta algum ou se a contagem está errada. A próxima conciliação completa procura todos; espelho --resync --store { $store } procura agora.

# Prazos, como em v_deadlines.kind.
word-deadline-ship-by = despacho
word-deadline-invoice-by = nota fiscal

# Palavras de uma linha escrita antes que as palavras tivessem códigos, ou que o marketplace disse.
# A row of which no foreign words leave the machine.
alarm-row = { $row }: { $words }
raw = { $error }
    .next = { $hint }
alarm-fiscal-gate = { $count } pedidos de { $store } esperam NF-e ou declaração de conteúdo; um dia normal traz { $usual } pedidos.
    .next = Veja se o ERP emite notas: SELECT * FROM v_deadlines WHERE kind = 'invoice_by' ORDER BY at
alarm-paused = { $store } está em pausa ({ $scope }) até { $until }, por { $by }. O que espera é recuperado depois.
    .next = espelho resume --store { $store }
alarm-paused-stores = { $count } lojas estão em pausa ({ $scope }) até { $until }, por { $by }. O que espera é recuperado depois.
    .next = espelho resume
alarm-notice-failed = Os avisos de alarmes não saem por { $channel }: { $detail }.
    .next = corrija [notices.{ $channel }] em espelho.toml ou o que os recebe; depois: espelho notice test --channel { $channel }
alarm-backup-failed = { $part ->
        [verification] O backup não pôde ser provado (espelho backup verify): { $cause }
       *[copy] O último backup falhou: { $cause }
    }
    .next = { $step } (depois: sudo systemctl start espelho-backup)
alarm-backup-late = { $part ->
        [verification] Não há prova de backup (espelho backup verify) anotada desde { $at }: a prova seguinte não veio, ou não terminou.
       *[copy] O último backup anotado é de { $at }: o seguinte não veio, ou não terminou.
    }
    .next = sudo systemctl enable --now espelho-backup.timer; depois: sudo systemctl start espelho-backup
alarm-backup-never = { $part ->
        [verification] Não há prova de backup (espelho backup verify) anotada, embora uma tenha começado.
       *[copy] Não há backup completo anotado, embora um tenha começado.
    }
    .next = { alarm-backup-late.next }

# De uma máquina, ou de outra, no mesmo banco.
alarm-of-machine = Máquina { $machine }: { $said }
    .next = { $next }
alarm-in-brief = Máquina { $machine }: { $what } ({ $count }).
    .next = o alarme inteiro está na língua em que foi registrado: espelho status --lang { $language }
alarm-in-brief-of-store = Máquina { $machine }: { $what }, loja { $store } ({ $count }).
    .next = o alarme inteiro está na língua em que foi registrado: espelho status --lang { $language }
