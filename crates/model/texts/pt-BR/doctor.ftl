# espelho doctor. A mensagem diz o que foi visto; `.next` diz o que fazer.

doctor-state-green = VERDE
doctor-state-not-configured = NÃO CONFIGURADO
doctor-state-unknown = DESCONHECIDO
doctor-state-yellow = AMARELO
doctor-state-red = VERMELHO

doctor-summary = { $counts }: { $verdict } (código de saída do doctor: { $code })
doctor-count-green = { $count ->
    [1] { $count } verde
   *[other] { $count } verdes
    }
doctor-count-yellow = { $count ->
    [1] { $count } amarelo
   *[other] { $count } amarelos
    }
doctor-count-red = { $count ->
    [1] { $count } vermelho
   *[other] { $count } vermelhos
    }
doctor-count-unknown = { $count ->
    [1] { $count } desconhecido
   *[other] { $count } desconhecidos
    }
doctor-count-not-configured = { $count ->
    [1] { $count } não configurado
   *[other] { $count } não configurados
    }
doctor-verdict-green = tudo o que foi verificado funciona
doctor-verdict-yellow = funciona, e algo pede atenção
doctor-verdict-red = algo não funciona
doctor-verdict-authentication = com esta credencial não se entra no marketplace
doctor-verdict-open = nem tudo pôde ser verificado

doctor-check-configuration = configuração
doctor-check-database = banco de dados
doctor-check-database-write = gravação no banco
doctor-check-database-schema = esquema do banco
doctor-check-disk = disco
doctor-check-backup = backup
doctor-check-service = serviço
doctor-check-notices = avisos de alarmes
doctor-check-alarm = alarme
doctor-check-marketplace = marketplace
doctor-check-clock = relógio
doctor-check-lock = posse da loja
doctor-check-credential = credencial
doctor-check-password = senha
doctor-check-scopes = permissões
doctor-check-rate-budget = limite de chamadas
doctor-check-webhook-address = endereço do webhook
doctor-check-receiver = receptor de webhooks
doctor-check-webhook = webhook
doctor-check-labels = pasta de etiquetas

doctor-too-slow = não deu para verificar em { $seconds } s
    .next = repita: espelho doctor; se continuar: journalctl -u espelho -n 50
doctor-unread = não deu para olhar: { $cause }
    .next = espelho doctor
doctor-no-access = não olhado: quem cuida da loja é outro, ou não deu para saber quem
    .next = espelho status
doctor-not-reached = não olhado: o marketplace não foi alcançado
    .next = quando for alcançado: espelho doctor
doctor-answers-errors = não olhado: o marketplace responde com erros
    .next = quando ele responder bem: espelho doctor
doctor-no-token = não olhado: o token não foi provado
    .next = veja acima o que se diz da credencial; depois: espelho doctor
doctor-restored-no-token = não olhado: sem um login, um banco restaurado não tem token
    .next = { doctor-lock-restored.next }
doctor-service-no-answer = o serviço não respondeu a tempo
    .next = espelho status

doctor-configuration = válida em { $folder }; { $stores ->
    [1] 1 loja
   *[other] { $stores } lojas
    }

doctor-database = responde, com o esquema desta versão ({ $address })
doctor-database-none = não olhado: o banco de dados ainda não foi criado
doctor-busy = não olhado: o banco de dados está bloqueado por outro programa
    .next = a linha acima sobre a gravação no banco diz qual é; depois: espelho doctor
doctor-no-database = não olhado: o banco de dados não abre
    .next = a linha acima sobre o banco de dados diz a causa e o próximo passo; depois: espelho doctor
doctor-another-user = não olhado: este usuário não pode abrir o banco de dados
    .next = { doctor-no-database.next }
doctor-database-another-user = este usuário não pode ler e gravar { $path }
    .next = sudo -u { $user } { $command }
doctor-database-outside = o banco fica em { $folder }, e a unidade do systemd não deixa o serviço gravar ali
    .next = sudo systemctl edit espelho, com as linhas [Service] e ReadWritePaths={ $folder }; depois: sudo systemctl restart espelho
doctor-database-hidden = o banco fica em { $folder }, que a unidade do systemd esconde do serviço (ProtectHome)
    .next = mova o banco: escreva em espelho.toml database.url = "sqlite:espelho.db", que fica em /var/lib/espelho; depois: sudo systemctl restart espelho
doctor-database-denied = o usuário do serviço não pode ler e gravar { $path }
    .next = sudo chown espelho:espelho { $path }*
doctor-database-not-yet = ainda não existe; será criado por espelho run em { $address }
    .next = espelho run
doctor-database-older = o esquema é da versão { $found }, e este espelho lê a { $wanted }
    .next = espelho migrate
doctor-database-newer = um espelho mais novo já migrou este banco (esquema { $found })
    .next = instale aqui o mesmo espelho que migrou o banco, ou um mais novo; depois: espelho doctor
doctor-database-restoring = um backup está sendo restaurado
    .next = espere o fim de espelho restore e repita: espelho doctor
doctor-database-unreachable = database_unreachable: { $address } não responde: { $cause }
    .next = psql "{ $address }" -c "select 1"  # onde há ***, escreva a senha
doctor-database-failed = { $address } não pôde ser aberto: { $cause }
    .next = espelho check; journalctl -u espelho -n 50

doctor-process-unknown = um programa que o sistema não mostra
doctor-process = processo { $id }
doctor-process-named = processo { $id } ({ $command })

doctor-write = uma linha foi gravada agora
doctor-schema = tabelas, gatilhos, visões e índices estão como o espelho os fez
doctor-schema-changed = faltam, estão desligados ou são outros: { $objects }
    .next = reinicie o serviço ou rode espelho migrate: os dois refazem tudo, menos tabelas
doctor-schema-unread = não foi possível ler o esquema do banco: { $cause }
doctor-write-failed = não aceita gravações: { $cause }
    .next = veja espaço e permissões: df -h; ls -l na pasta do banco
doctor-write-busy = database_busy: o banco ficou bloqueado nos { $seconds } s em que o doctor esperou; quem bloqueia: { $holder }
    .next = { alarm-database-busy.next }

doctor-backup = o mais novo é de { $at }
doctor-backup-late = o mais novo é de { $at }, há { $age }
    .next = sudo systemctl start espelho-backup; journalctl -u espelho-backup -n 20
doctor-credential-database = um login precisa ser anotado antes, e o banco de dados não aceita gravações agora
    .next = corrija primeiro o banco de dados
doctor-backup-damaged = o mais novo, { $path }, está danificado
    .next = sudo systemctl start espelho-backup
doctor-backup-none = ainda não há nenhum em { $folder }
    .next = sudo systemctl start espelho-backup (agora); sudo systemctl enable --now espelho-backup.timer (toda noite)
doctor-backup-unread = { $folder } não pode ser lida: “{ $cause }”
    .next = sudo -u espelho espelho doctor
doctor-backup-of-server = um banco PostgreSQL é copiado pelas ferramentas do servidor
    .next = pg_dump; veja OPERATIONS, Backups
doctor-disk = { $free } livres
doctor-disk-short = só { $free } livres em { $folder }
    .next = df -h { $folder }; apague o que não precisa antes que encha
doctor-disk-full = disk_full: só { $free } livres em { $folder }; as gravações vão falhar
    .next = { alarm-disk-full.next }
doctor-disk-elsewhere = o banco fica em um servidor PostgreSQL; veja o disco lá
doctor-disk-unknown = o sistema não diz quanto está livre
    .next = df -h

doctor-service = versão { $version }, responde em { $address }
doctor-service-stopped = service_stopped: ninguém responde em { $address }
    .next = { alarm-service-stopped.next }
doctor-service-silent = service_stopped: o serviço aceita conexões em { $address } e não responde, e não dá sinal de vida no banco de dados
    .next = sudo systemctl restart espelho; journalctl -u espelho -n 50
doctor-service-other = service_stopped: em { $address } responde o espelho de outra instalação, com outro banco de dados
    .next = escreva outro endereço em http.listen no espelho.toml; depois: sudo systemctl start espelho
doctor-service-taken = service_stopped: { $taken }
    .next = { $step }
doctor-service-mute = há alguém em { $address }, mas não responde como o espelho: { $cause }
    .next = ss -ltnp | grep { $address } mostra o programa; se é outro, escreva outro endereço em http.listen no espelho.toml; se é o espelho: sudo systemctl restart espelho; journalctl -u espelho -n 50
doctor-service-unready = versão { $version }, em { $address }, não está pronto agora: { $why }
    .next = espelho status
doctor-service-first-reading = versão { $version }, em { $address }, funciona e estará pronto quando a primeira leitura de uma loja terminar
    .next = espere o fim dela (5 min para 1.000 pedidos e 500 produtos, 84 min para 20.000 e 5.000); para ver quanto falta: espelho status --watch
doctor-service-reconciling = versão { $version }, em { $address }, funciona; a primeira conciliação desde o início está em andamento
doctor-service-not-ready = versão { $version }, em { $address }, ainda não está pronto
    .next = espelho status

doctor-alarm = { $code }: { $said }
    .next = { $next }

doctor-marketplace = { $address } respondeu em { $milliseconds } ms
doctor-marketplace-unreachable = marketplace_unreachable: { $address } não responde: { $cause }
    .next = { alarm-marketplace-unreachable.next }
doctor-marketplace-errors = marketplace_errors: { $address } responde { $status }
    .next = { alarm-marketplace-errors.next }
doctor-marketplace-throttled = throttled: { $address } responde 429, chamadas demais
    .next = { alarm-throttled.next }
doctor-marketplace-limited = { $address } acaba de responder 429, chamadas demais: pede para esperar até { $free_at }. Uma só resposta assim passa sozinha; se durar, um alarme avisa
    .next = depois de { $free_at }: espelho doctor
doctor-marketplace-elsewhere = { $address } manda para outro endereço ({ $status })
    .next = corrija base_url no arquivo da loja; depois: espelho check

doctor-clock = { $seconds } s de diferença para o marketplace
doctor-clock-untold = o marketplace não diz que horas são
doctor-clock-slow = clock_wrong: esta máquina está { $span } atrasada
    .next = { alarm-clock-behind.next }
doctor-clock-fast = clock_wrong: esta máquina está { $span } adiantada
    .next = { alarm-clock-ahead.next }

doctor-lock-service = o serviço cuida da loja ({ $owner })
doctor-lock-told = o serviço diz que cuida da loja
doctor-lock-free = ninguém cuidava da loja; o doctor olha com o token dela
doctor-lock-restored = este banco foi restaurado de um backup: sem pedido, o doctor não faz login, porque um login daqui encerra o token da instalação que ainda roda com esta credencial
    .next = se nenhuma outra instalação usa esta credencial: espelho doctor --login
doctor-lock-not-loaded = o serviço em execução não conhece a loja: ele tem a configuração anterior; o doctor olha com o token dela
    .next = sudo espelho reload
doctor-lock-silent = um serviço que não responde aqui cuida da loja: { $owner }, { $process }
    .next = se é desta máquina: sudo systemctl restart espelho; se é de outra, olhe lá: espelho doctor
doctor-lock-espelho = outro espelho cuida da loja: { $owner }, { $process }
    .next = espere ele terminar, ou olhe na máquina dele: espelho doctor
doctor-lock-stranger = outro programa segura a loja: { $process }
    .next = feche esse programa e repita: espelho doctor
doctor-lock-taken = outro acabou de pegar a loja: { $cause }
    .next = espelho doctor
doctor-lock-failed = a loja não pôde ser aberta: { $cause }
    .next = confira { $file } e repita: espelho doctor

doctor-credential = o token funciona, testado agora
doctor-credential-service = o token funciona: uma resposta ao serviço há { $seconds } s o prova
doctor-credential-of = o token funciona, testado agora; a loja é { $name }
doctor-credential-withheld = o token funciona, mas o marketplace não diz de que loja é ({ $status })
    .next = confira no portal do vendedor que a credencial é desta loja; depois: espelho doctor
doctor-credential-refused = credential_refused: o marketplace não aceita { $username }: “{ $cause }”
    .next = { alarm-credential-refused.next }
doctor-login-refused = credential_refused: o marketplace recusa o login de { $username } (422){ $fields ->
        [none] {""}
       *[other] {" "}por { $fields }
    }
    .next = { alarm-login-refused.next }
doctor-credential-foreign = foreign_login: outro programa usa { $username } e derruba o nosso token
    .next = { alarm-foreign-login.next }
doctor-login-limited = nenhum login é possível até { $free_at }: o marketplace aceita 5 por minuto para cada usuário e endereço. Isto nada prova sobre a senha, nem a favor nem contra
    .next = enquanto isso, veja se outro programa entra com este usuário (outro ERP, um hub, uma instalação antiga): ele precisa de uma credencial própria, feita no portal do vendedor, e uma senha nova o deixa de fora. Depois de { $free_at }: { $command }
doctor-login-unanswered = o login de { $at } ainda não teve resposta: o limite do marketplace (5 por minuto para cada usuário e endereço) pode estar esgotado. Isto nada prova sobre a senha, nem a favor nem contra
    .next = enquanto isso, veja se outro programa entra com este usuário (outro ERP, um hub, uma instalação antiga): ele precisa de uma credencial própria, feita no portal do vendedor, e uma senha nova o deixa de fora. Depois de { $free_at }: { $command }
doctor-credential-failed = não deu para provar: { $cause }
    .next = espelho doctor

doctor-password = aceita agora, em um login
doctor-password-not-asked = não testada; o token atual não precisa dela
    .next = espelho doctor --login
doctor-password-unread = não comparada com a que um login provou: este usuário não pode ler { $place }
    .next = sudo -u espelho { $command }
doctor-password-proved = não testada agora; um login a provou em { $at }
    .next = espelho doctor --login
doctor-password-changed = não provada: { $file } foi escrito em { $changed }, depois do último login que deu certo ({ $at })
    .next = espelho doctor --login
doctor-password-other = não provada: o último login que deu certo ({ $at }) usou outra senha, não a que está agora em { $file }
    .next = espelho doctor --login
doctor-password-refused = recusada pelo marketplace no login de { $at }; o token ainda vale
    .next = { alarm-credential-refused.next }

doctor-scopes = confirmadas no último minuto: { $granted }; só uma gravação mostraria: { $unseen }
doctor-scopes-missing = scope_missing: faltam à credencial: { $missing }
    .next = { alarm-scope-missing.next }
doctor-scopes-unread = { $failed }: não deu para ver: { $cause }
    .next = espelho doctor
doctor-scopes-failed = não deu para ver: { $cause }
    .next = espelho doctor

doctor-budget = { $free } de { $limit } chamadas por minuto livres; o nosso próprio trabalho usa as outras
doctor-budget-refused = o marketplace recusa chamadas (429); { $free } das nossas { $limit } por minuto estão livres
    .next = { alarm-throttled.next }
doctor-budget-shared = outro programa usa o login, e pode gastar das mesmas { $limit } chamadas por minuto
    .next = { alarm-foreign-login.next }

doctor-webhook-none = nenhum configurado; a loja é lida de tempos em tempos
    .next = para receber avisos além das consultas: escreva [webhook] em { $file }, depois: sudo espelho reload
doctor-webhook-by-hand = criado no portal do vendedor, com segredo próprio ({ $address })
doctor-webhook-address = nosso último login o registrou em { $address }
doctor-webhook-unregistered = nenhum login nosso que o registrou está anotado; o próximo login do serviço registra { $address }
    .next = { $running ->
        [yes] sudo espelho reload
       *[no] sudo systemctl start espelho && espelho doctor
    }
doctor-webhook-elsewhere = webhook_elsewhere: está registrado em { $registered }; a configuração diz { $configured }
    .next = { alarm-webhook-elsewhere.next }
doctor-mistakes-no-login = não olhado: com o que está marcado acima, o doctor não faz login próprio, que poderia encerrar o token de outra loja
    .next = corrija o que está marcado acima; depois: espelho doctor
doctor-store-left-out = nada desta loja foi examinado; o motivo está acima
    .next = corrija o que está marcado acima; depois: espelho doctor
doctor-webhook-not-its = não testado: o serviço desta máquina não cuida desta loja agora
    .next = a linha acima sobre quem cuida da loja diz a causa e o próximo passo; depois: espelho doctor
doctor-webhook-no-service = não testado: sem o serviço ninguém recebe
    .next = sudo systemctl start espelho && espelho doctor
doctor-webhook = a entrega de teste chegou a { $address } em { $milliseconds } ms
doctor-webhook-arrived = uma entrega de teste chegou em { $milliseconds } ms; daqui não se vê a que endereço o marketplace a mandou
doctor-webhook-path = o webhook vai para { $address }, e o serviço recebe em { $path }
    .next = em webhook.public_url, termine o endereço com { $path }; está certo assim só se um proxy troca o caminho
doctor-webhook-refused = o marketplace não mandou a entrega de teste: { $cause }
    .next = veja no portal do vendedor se o webhook existe e está ativo; depois: espelho doctor
doctor-webhook-not-asked = a entrega de teste não pôde ser pedida: { $cause }
    .next = espelho doctor
doctor-webhook-not-received = o serviço que está rodando não recebe webhooks desta loja: usa uma configuração anterior
    .next = sudo espelho reload
doctor-webhook-no-answer = o serviço não disse se a entrega de teste chegou
    .next = espelho status
doctor-webhook-unanswered = a entrega de teste a { $address } ainda não chegou a { $listen }
    .next = o que chega a { $address } tem de alcançar { $listen } desta máquina: compare webhook.public_url, o proxy e webhooks.listen com o histórico de entregas do webhook no portal do vendedor; depois: espelho webhook test --wait=20 --store { $store }
doctor-webhook-paused = não testado: a loja está em pausa, e uma entrega de teste espera com as outras
    .next = espelho resume --store { $store }
doctor-webhook-signature = chegou uma entrega com assinatura de um segredo desconhecido
    .next = { $made ->
        [by-hand] compare o segredo do webhook no portal do vendedor com o de webhook.secret_file em { $file } e rode de novo: espelho doctor. Se o teste chega então, quem postou era um estranho
       *[other] se o banco foi refeito, o segredo deste webhook se perdeu com ele: apague o webhook no portal do vendedor e rode: sudo systemctl restart espelho (o login faz outro). Se não foi, quem postou era um estranho: rode de novo espelho doctor
    }

doctor-receiver = recebe em { $address }
doctor-receiver-tls = aceita conexões em { $address } (TLS)
doctor-receiver-socket = recebe em { $address }, o endereço do espelho.socket; webhooks.listen diz { $configured } e não é usado
    .next = use um endereço só: sudo systemctl edit espelho.socket (abaixo de [Socket]: uma linha ListenStream= e uma linha ListenStream={ $configured }), ou corrija webhooks.listen; depois: sudo systemctl stop espelho.socket espelho && sudo systemctl start espelho.socket espelho
doctor-receiver-other = em { $address } responde outro programa ({ $status })
    .next = ss -ltnp | grep { $address }
doctor-receiver-closed = ninguém recebe em { $address }: { $cause }
    .next = sudo systemctl restart espelho; ss -ltnp | grep { $address }
doctor-receiver-no-service = não olhado: sem o serviço ninguém recebe
    .next = sudo systemctl start espelho && espelho doctor

doctor-labels = { $folder } aceita gravações
doctor-labels-none = nenhum arquivo de etiqueta é guardado
doctor-labels-not-yet = ainda não há etiquetas; o serviço cria { $folder } com a primeira
doctor-labels-another-user = { $folder } não pode ser vista por este usuário
    .next = sudo -u { $user } { $command }
doctor-labels-failed = { $folder } não aceita gravações: “{ $cause }”
    .next = ls -ld { $folder }; a pasta deve ser do usuário do serviço
doctor-notices = pessoas são avisadas dos alarmes por { $each }
doctor-notices-last = { $channel } (último em { $at })
doctor-notices-ping = o sinal de vida está configurado; dos alarmes em si ninguém é avisado
doctor-notices-none = ninguém é avisado dos alarmes
    .next = para ser avisado: [notices] em espelho.toml, depois espelho notice test
doctor-notices-mistake = não olhado: com o que está marcado acima, nada de [notices] foi lido
    .next = corrija o que está marcado acima; depois: espelho doctor
doctor-notices-untried = nenhum aviso saiu ainda por { $channel }
    .next = espelho notice test
doctor-notices-failing = nenhum aviso sai por { $channel } desde { $since }: “{ $detail }”
    .next = corrija [notices.{ $channel }] em espelho.toml ou o que os recebe; depois: espelho notice test --channel { $channel }
doctor-notices-unread = o banco de dados não diz como vão os avisos
