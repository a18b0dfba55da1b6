# Conciliações, varreduras e auditorias: por que algo acabou antes, e os relatórios.

run-stopped = Parou antes do fim.
    .next = Rode de novo: continua de onde parou.
run-dry-run = Nada foi gravado (--dry-run): “mudados” é o que seria lido por inteiro.
run-stopped-before = Parou antes de começar.
    .next = Rode de novo.
run-stopped-waiting = Parou enquanto esperava o marketplace.
    .next = Rode de novo: continua de onde parou.
run-audit-stopped = Parou antes do fim.
    .next = Rode de novo: a auditoria recomeça.
run-left = Parou de esperar; o serviço que tem a loja continua a conciliação.
    .next = Veja como ela termina: espelho status
run-audit-left = Parou de esperar; o serviço que tem a loja continua a auditoria.
    .next = Veja o que ela achou: espelho status
run-reloaded = O serviço usa a configuração nova.
run-reloaded-partly = O serviço usa a configuração nova, menos o que precisa de reinício: { $parts }
    .next = sudo systemctl restart espelho
run-reload-unknown = O serviço recebeu o pedido e ainda não disse o que houve; o log dele diz.
    .next = espelho status
run-reload-refused = O serviço recusou a configuração nova e continua com a anterior{ $count ->
        [0] ; o log dele diz o erro.
       *[other] : { $mistakes }
    }
    .next = Corrija, confira com espelho check e recarregue: sudo espelho reload
run-reload-not-asked = Nada foi pedido ao serviço: ele continua com a configuração que tem. Corrija isto e rode: sudo espelho reload
run-reload-no-service = Nenhum serviço responde em { $address }.
    .next = Se ele está parado, o próximo início lê a configuração nova: sudo systemctl start espelho
run-reload-other = O serviço em { $address } trabalha com outro banco de dados; nada foi pedido a ele.
    .next = Se database.url mudou desde o início dele: sudo systemctl restart espelho. Se é outra instalação: corrija http.listen em espelho.toml e repita: espelho reload
run-reload-not-taken = O serviço em { $address } não recarrega: é uma demonstração ou outra versão.
    .next = Uma demonstração se encerra com Ctrl-C e se inicia de novo; para o serviço: sudo systemctl restart espelho
run-reload-not-here = O serviço se diz o processo { $process }, e aqui esse número é de outro programa ou de nenhum: ele roda em um contêiner, ou o programa tem outro nome.
    .next = Rode no contêiner dele: espelho reload
run-reload-denied = Este usuário não pode avisar o serviço, que é o processo { $process } de outro usuário.
    .next = sudo espelho reload
run-reload-denied-by-hand = Este usuário não pode avisar o serviço, que é o processo { $process } de outro usuário.
    .next = sudo kill -HUP { $process }
run-handed-over = { $store }: o serviço que tem a loja faz a conciliação.
run-audit-handed-over = { $store }: o serviço que tem a loja faz a auditoria.
run-cut-off = O serviço que fazia a conciliação terminou antes de dizer como ela foi.
    .next = Veja espelho status e rode de novo: continua de onde parou.
run-audit-cut-off = O serviço que fazia a auditoria terminou antes de dizer o que achou.
    .next = Veja espelho status e rode de novo: a auditoria recomeça.
run-store-lost = O serviço perdeu a loja antes de começar.
    .next = Veja em espelho status quem está com ela e rode de novo.
run-too-many-gone = Faltam { $missing } de { $live } registros ({ $resource }) em uma lista de { $listed }. O espelho só marca { $limit } de uma vez como removidos, por isso não marcou nenhum.
    .next = Confira no portal. Se eles realmente se foram: espelho --resync --store { $store } --accept-gone
run-incomplete = O marketplace diz que há { $total } registros ({ $resource }) e lista só { $seen }; nenhum foi marcado como removido.
    .next = Rode de novo. Se continuar assim, a lista tem um limite ou conta as páginas de outro jeito (assumptions.page_parameter).
run-listings-incomplete = Nem todos os anúncios da campanha { $campaign } podem ser lidos: há linhas sem id, ou as páginas não terminam.
    .next = O espelho tenta de novo sozinho, cada vez mais raramente. Se continuar assim, avise o marketplace.
run-ignores-page = O marketplace ignora o parâmetro de página: a página { $page } repete a { $same }.
    .next = Escreva em assumptions.page_parameter, no arquivo da loja, o nome que o marketplace usa.
run-no-progress = A lista não termina: as páginas até a { $page } repetem linhas anteriores.
    .next = Escreva em assumptions.page_parameter, no arquivo da loja, o nome que o marketplace usa.
run-not-asked = Não foi lido: antes dele, o marketplace falhou linha após linha.
    .next = O espelho tenta de novo sozinho.
run-not-found = O marketplace diz que não tem este registro.
    .next = O espelho pergunta de novo ao longo de um dia; espelho --resync decide na hora.
run-foreign-store = A entrega é da loja { $told }, e esta é a loja { $own }.
    .next = Cada loja tem seu próprio webhook: veja no portal a que credencial este endereço pertence.
run-shared-sku = Dois produtos têm o SKU { $sku }: { $one } e { $other }. As linhas de product_stock são do último que foi lido, e o que o ERP escreve para este SKU espera.
    .next = Dê um SKU próprio a cada um no portal do vendedor. Se um deles já não existe, nada a fazer: a próxima conciliação completa percebe.
run-unreadable-delivery = Uma entrega de webhook não pôde ser lida: “{ $problem }”
    .next = Nada se perde se uma varredura achar a mudança. Informe o corpo desta entrega (webhook_inbox.body, pelo digest).
run-aimless-delivery = Uma entrega de { $event } que não diz do que trata.
    .next = Nada se perde se uma varredura achar a mudança. Informe o corpo desta entrega (webhook_inbox.body, pelo digest).
run-note-unlisted = { $rows ->
        [1] { $rows } registro não é mais listado, mas ainda existe; não foi marcado como removido.
       *[other] { $rows } registros não são mais listados, mas ainda existem; não foram marcados como removidos.
    }
run-note-listings-kept = { $rows ->
        [1] { $rows } anúncio de campanha não é mais listado
       *[other] { $rows } anúncios de campanhas não são mais listados
    }; o espelho não acredita nisso de uma vez e não marcou nenhum como removido. Se eles realmente se foram: espelho --resync --only campaigns --store { $store } --accept-gone
run-note-unclear = { $rows ->
        [1] { $rows } registro não pôde ser consultado; não foi marcado como removido.
       *[other] { $rows } registros não puderam ser consultados; não foram marcados como removidos.
    }
run-note-count = { $remark } ({ $rows ->
        [1] { $rows } registro
       *[other] { $rows } registros
    })
run-note-field = campo ilegível: { $field }
run-note-value = valor desconhecido em { $field }: “{ $value }”
run-note-nameless = linhas listadas sem identificador

# Etiquetas
run-label = Etiqueta do pedido { $order }: { $why }
    .next = { $next }
run-label-disk-full = O disco está cheio: o arquivo da etiqueta não pôde ser gravado.
    .next = Libere espaço onde fica labels.directory: o espelho continua sozinho.
run-label-disk = O arquivo da etiqueta não pôde ser gravado: “{ $problem }”
    .next = Dê ao usuário do espelho permissão de escrita em labels.directory: o espelho continua sozinho.
run-not-a-label = O servidor de arquivos mandou algo que não é uma etiqueta { $wanted }.
    .next = Imprima a etiqueta pelo portal e avise o suporte do marketplace; o espelho tenta de novo sozinho.
run-label-without-shipment = O marketplace não diz de que remessa é esta etiqueta.
    .next = Imprima a etiqueta pelo portal.

# Auditoria
run-audit-not-mirrored = ainda não espelhado: o serviço vai ler
run-audit-no-route = a API não tem rota para ler isto
run-audit-endless = a lista não termina
run-audit-closed = o marketplace não deixa ler: { $why }
run-audit-equal = { $store }: nenhuma diferença no que foi comparado ({ $requests ->
        [1] { $requests } chamada
       *[other] { $requests } chamadas
    })
run-audit-different = { $store }: difere do marketplace ({ $requests ->
        [1] { $requests } chamada
       *[other] { $requests } chamadas
    })
run-audit-partial = { $store }: não pôde ser comparada por inteiro ({ $requests ->
        [1] { $requests } chamada
       *[other] { $requests } chamadas
    })
run-audit-columns = { $listed } listados, { $mirrored } espelhados, { $sampled } detalhes lidos, { $differing } diferem
run-audit-more = e mais { $more }
run-audit-next-resync = Próximo passo: espelho --resync --deep --store { $store }
run-audit-next-sweep = O serviço lê o resto de novo na próxima varredura.
run-difference-missing = falta no espelho
run-difference-surplus = sobra no espelho
run-difference-listing = difere na lista
run-difference-detail = difere no detalhe
run-difference-edited = as colunas foram alteradas no espelho
run-difference-unreadable = o detalhe não pôde ser lido

# Relatório de --resync
run-report-line = { $store }: { $state } em { $seconds } s, { $requests ->
        [1] { $requests } chamada
       *[other] { $requests } chamadas
    }, { $logins ->
        [1] { $logins } login
       *[other] { $logins } logins
    }
run-report-limited = { $rate_limited ->
        [1] { $rate_limited } chamada recusada por excesso (429)
       *[other] { $rate_limited } chamadas recusadas por excesso (429)
    }
run-report-columns = { $seen } vistos, { $changed } mudados, { $gone } removidos, { $failed } com falha
run-report-resumed = retomado na página { $page }
run-report-note = nota: { $note }
run-report-failure = { $key } falhou: { $error }
run-report-hidden = e mais { $hidden }: SELECT * FROM sync_failures
run-error = Erro: { $error }
run-next-step = Próximo passo: { $next }

# O serviço
run-ended = { $what } parou por um defeito.
    .next = O systemd reinicia o serviço sozinho; fora dele, inicie-o de novo. Mande o log acima a quem mantém o espelho.
run-ended-webhooks = O receptor de webhooks
run-ended-store = O trabalho em uma loja
run-ended-server = O servidor de estado e métricas
run-ended-disk = O disco recusou a gravação definitiva: ninguém sabe o que está nele.
    .next = Confira o disco e inicie o serviço de novo.
run-ended-files = { $file } foi apagado ou trocado enquanto o serviço o usava. Tudo o que ele tinha, também as entregas já confirmadas, está em { $copy }.
    .next = espelho restore --replace { $copy } põe tudo de volta. Se outro banco foi posto ali de propósito, inicie o serviço de novo.
run-ended-files-unsaved = { $file } foi apagado ou trocado enquanto o serviço o usava, e o conteúdo não pôde ser salvo: { $cause }
    .next = Ponha um backup no lugar (espelho restore) e inicie o serviço.
run-panicked = Uma tarefa do espelho falhou: “{ $said }”
    .next = O systemd reinicia o serviço sozinho; fora dele, inicie-o de novo. Mande o log acima a quem mantém o espelho.
run-part-panicked = Uma parte do espelho falhou em { $place } e foi iniciada de novo.
    .next = O trabalho continua. Envie esta linha a quem mantém o espelho; depois: espelho retry { $row }
run-poisoned = Separado: o espelho falhou duas vezes em { $place } ao trabalhar nisto. Todo o resto continua.
    .next = Envie esta linha a quem mantém o espelho. Depois da correção: espelho retry { $row }
run-poisoned-process = Separado: o espelho terminou duas vezes ao trabalhar nisto. Todo o resto continua.
    .next = Envie esta linha a quem mantém o espelho, com o fim do log. Depois da correção: espelho retry { $row }
run-lock-table = A tabela de bloqueios do PostgreSQL é pequena demais para { $stores ->
        [1] uma loja
       *[other] { $stores } lojas
    }: max_locks_per_transaction é { $found }, e é preciso { $needed }, metade para as outras sessões. Quando a tabela enche, as sessões do ERP também falham.
    .next = No PostgreSQL: ALTER SYSTEM SET max_locks_per_transaction = { $needed }; depois reinicie o PostgreSQL e o espelho.
run-schedule = schedule.reconcile não pode ser usado: “{ $problem }”
    .next = Corrija schedule.reconcile em espelho.toml.

# Comandos
run-unknown-store = Não há loja “{ $asked }”.
    .next = Use uma das configuradas: { $known }.
run-several-stores = Há várias lojas.
    .next = Indique uma com --store LOJA.
run-command-of-another = O comando { $number } é da loja “{ $own }”, não de “{ $asked }”.
    .next = Deixe --store de fora: o número basta.
run-unknown-seq = O feed ainda não chegou a { $seq }: o número mais novo é { $newest }.
    .next = Confirme um "seq" que espelho feed mostrou.
run-output = A saída não pôde ser escrita: “{ $problem }”
    .next = Veja para onde vai a saída padrão.
run-resync-alone = --resync é um comando à parte: tire o outro comando.
run-signals = Os sinais do sistema não podem ser recebidos: “{ $problem }”
run-listen = http.listen { $address } não pode ser usado: “{ $problem }”
    .next = Pare o que escuta nesse endereço ou escolha outra porta.
run-webhooks-listen = webhooks.listen { $address } não pode ser usado: “{ $problem }”
    .next = Pare o que escuta nesse endereço ou escolha outra porta.
run-certificate = O certificado do receptor de webhooks não pode ser usado: “{ $problem }”
    .next = Use arquivos PEM em webhooks.tls_certificate_file e webhooks.tls_key_file.
run-worded = { $error }
    .next = { $next }
run-check-valid = A configuração está certa; lojas: { $stores }
run-no-runtime = O espelho não pôde começar: “{ $problem }”
run-webhook-none = A loja { $store } não tem [webhook] em stores/{ $store }.toml: não há o que mover.
    .next = para ter um, escreva [webhook] com public_url ali; depois: sudo espelho reload
run-webhook-by-hand = O webhook da loja { $store } foi feito no portal do vendedor (webhook.secret_file): nenhum login muda o endereço dele.
    .next = mude o endereço no portal; depois: espelho webhook test --wait=20 --store { $store }
run-webhook-there = O webhook da loja { $store } já está registrado em { $address }.
    .next = para ver se as entregas chegam: espelho webhook test --wait=20 --store { $store }
run-webhook-moved = No próximo login, o webhook de { $store } passa ao endereço configurado.
    .next = para conferir, depois: espelho doctor
run-webhook-unconfirmed = No próximo login, o webhook de { $store } muda de endereço, mas o serviço não confirmou que releu a configuração.
    .next = sudo espelho reload; para conferir, depois: espelho doctor
run-webhook-moving = O serviço releu a configuração e, em segundos, registra o webhook de { $store } no endereço configurado.
    .next = para conferir, depois: espelho doctor
run-no-such-delivery = A caixa de entrada não tem essa entrega.
    .next = Veja quais há: espelho webhook replay --all --dry-run. Entregas tratadas ficam guardadas por sete dias.
run-replay-matching = { $deliveries ->
        [0] Nenhuma entrega corresponde
        [1] { $deliveries } entrega corresponde
       *[other] { $deliveries } entregas correspondem
    }; { $left } já à espera de tratamento
run-replay-more = e mais { $deliveries }
run-replay-dry = Nada foi mudado (--dry-run).
run-replayed = { $deliveries ->
        [0] Nenhuma entrega será tratada de novo
        [1] { $deliveries } entrega será tratada de novo
       *[other] { $deliveries } entregas serão tratadas de novo
    }: pelo serviço no ar, em segundos; senão quando ele começar
run-pause = { $store } está em pausa ({ $scope }) até { $until }, por { $by }
run-paused = A leitura de { $store } está em pausa.
    .next = espelho resume --store { $store }
run-resumed = { $count ->
        [0] Não há pausa assim
        [1] { $count } pausa terminou
       *[other] { $count } pausas terminaram
    }
run-grants-sqlite = grants é para PostgreSQL; esta configuração usa SQLite, em que as permissões dos arquivos decidem
    .next = Para um ERP nesta máquina: sudo usermod -aG espelho USUÁRIO-DO-ERP. Para um PostgreSQL: aponte database.url para ele, ou use --config com a pasta de uma configuração que o faça

man-manual = Comandos de usuário
man-name = NOME
man-synopsis = SINOPSE
man-description = DESCRIÇÃO
man-notes = NOTAS
man-version = VERSÃO
man-failed = o manual não pôde ser gravado: “{ $problem }”
man-unknown = “{ $topic }” não é um comando; espelho --help lista todos
