# Enganos na configuração: a continuação de “ARQUIVO:LINHA:”.

config-mistake = { $mistake }
    .next = Corrija e confira com: espelho check
config-at = { $place }: { $problem }
config-at-next = { $place }: { $problem } { $next }
config-none-yet = { $place }: { $problem }. Para configurar com seis perguntas: sudo espelho init (sem sudo em uma pasta sua); para ver tudo sem configuração: espelho demo
    .next = sudo espelho init
config-no-folder = esta pasta não existe, então nada está configurado ainda; --config indica outra
config-shared-credential = tem a credencial da loja { $first }; crie no portal uma para cada loja
config-same-listeners = http.listen e webhooks.listen são o mesmo endereço ({ $listen }); dê uma porta a cada um
config-webhook-of-other = webhook.public_url é o endereço da loja { $other }; use o desta loja, que termina em /webhooks/{ $store }
config-stores-unreadable = não pode ser lida (“{ $problem }”); ponha nela um arquivo LOJA.toml para cada loja
config-bad-key = “{ $key }” não serve como nome de loja (letras minúsculas, números, hífen e _); renomeie o arquivo
config-no-stores = não tem nenhum LOJA.toml, então nenhuma loja está configurada ainda; há um para cada loja
config-unreadable = não pode ser lido: “{ $problem }”
config-password-quotes = uma senha ou um token deve ser um texto entre aspas
config-unknown-key = chave desconhecida "{ $key }"{ $home ->
        [none] { $nearest ->
            [none] {""}
           *[other] ; seria "{ $nearest }"?
        }
       *[other] ; o lugar dela é [{ $home }]
    } ({ $section ->
        [none] aqui
       *[other] em [{ $section }]
    } valem: { $known })
config-unknown-key-nowhere = chave desconhecida "{ $key }"; { $section ->
        [none] aqui
       *[other] em [{ $section }]
    } não vale nenhuma
config-missing-key = falta a chave { $key }
config-wrong-type = aqui vale { $expected }, e está escrito { $found }
config-unknown-value = "{ $value }" não serve; escreva um destes: { $known }
config-not-toml = o texto não é TOML válido: “{ $problem }”
config-language = não há o idioma "{ $tag }"; escreva "pt-BR" ou "en"
config-timezone = não há o fuso "{ $name }"; escreva um nome IANA: "America/Sao_Paulo", "America/Manaus", "UTC"
config-tls-key = webhooks.tls_certificate_file precisa de tls_key_file ao lado
config-tls-certificate = webhooks.tls_key_file precisa de tls_certificate_file ao lado
config-queue = webhooks.queue_megabytes pode ser 1024 no máximo
config-cron = schedule.reconcile "{ $expression }" não é uma expressão cron (“{ $problem }”); escreva seis campos: segundo minuto hora dia mês dia-da-semana
config-cadence = "{ $value }" não é um número de segundos (60), nem um intervalo ("90s", "5m", "2h", "1d"), nem uma expressão cron de seis campos em UTC ("0 */5 * * * *")
config-labels-directory = labels.directory está vazio; escreva o nome de uma pasta, ou tire a chave para usar "labels"
config-labels-host = labels.hosts: "{ $host }" não é um servidor; escreva um nome como "storage.example", ou "*.storage.example" para todos abaixo dele
config-labels-format = labels.formats: "{ $format }" não é um formato de etiqueta; escolha entre a4, zebra, thermal, zebra_pdf, ou "*" para todos
config-retention = retention.{ $key } é { $days ->
        [1] { $days } dia
       *[other] { $days } dias
    }, pouco demais para ser seguro; escreva { $least } ou mais, ou tire a chave
config-number = { $field } é { $value }; escreva um número de 0 para cima
config-webhook-not-public = webhook.public_url "{ $url }" não é alcançável pela internet, e produção a recusa; escreva o endereço público do seu proxy
config-webhook-events = webhook.events não cita nenhum evento; escreva ["*"] para todos
config-webhook-event = o marketplace não tem o evento { $event }; o mais parecido é { $nearest }, e ["*"] são todos
config-log-level = log.level { $level } não é um nível: error, warn, info, debug, trace, ou um filtro como info,espelho_api_client=debug
config-webhook-secret = o segredo do webhook não pode ser lido ({ $tried })
config-tokens-unreadable = os tokens não podem ser lidos ({ $tried })
config-no-tokens = não tem [[token]]; escreva um, ou deixe [http] tokens_file de fora
config-token-name = um token não tem nome; dê um, como "erp"
config-token-twice = o token "{ $name }", ou o nome dele, está ali duas vezes; deixe um
config-token-one = o token "{ $name }" precisa de token ou de sha256, não dos dois
config-token-short = o token "{ $name }" tem menos de { $least } caracteres; escreva a saída de: openssl rand -hex 32
config-token-sha256 = sha256 do token "{ $name }" não tem 64 dígitos hexadecimais; escreva a saída de: printf %s TOKEN | sha256sum
config-token-scopes = o token "{ $name }" não tem escopo; escreva "read", "write" ou "feed"
config-token-store = o token "{ $name }" indica a loja "{ $store }", que não é nome de loja
config-password-twice = credentials tem password e password_file; fique com um
config-password-empty = credentials.password está vazia; veja no portal do vendedor
config-no-password = credentials não tem password nem password_file, e o systemd não passou credencial
config-password = a senha não pode ser lida ({ $tried })
config-file-empty = { $path } está vazio
config-file-denied = { $path }: “{ $problem }”
    .next = ele tem de ser do usuário do serviço: sudo chown espelho { $path } && sudo chmod 600 { $path }. Se já é, rode este comando como ele: sudo -u espelho espelho doctor
config-file-anothers = { $path } é do usuário { $user }, e só ele pode ler
    .next = rode este comando como ele: sudo -u { $user } { $command }. Se o serviço roda como outro: sudo chown espelho { $path }
config-file-not-services = a configuração está certa, mas o usuário do serviço não pode ler { $path }
    .next = sudo chown espelho { $path } && sudo chmod 600 { $path }. Uma senha que o systemd passa (LoadCredential) não precisa de um arquivo que o serviço leia
config-file-error = { $path }: “{ $problem }”
config-username = credentials.username está vazio; veja o portal
config-naive-offset = assumptions.naive_offset "{ $value }" não é como "-03:00"
config-address-credentials = { $field } traz uma senha; ela pertence a [credentials]
config-address = { $field } "{ $address }" não é um endereço; escreva como https://marketplace.example
config-address-https = { $field } "{ $address }" deve começar com https://
config-address-production = { $field } "{ $address }" deve começar com https:// em produção; só environment = "sandbox" pode usar http://
config-address-loopback = { $field } "{ $address }" é um endereço desta máquina, que produção recusa; use environment = "sandbox"
config-base-url = base_url é só o endereço do marketplace, sem caminho da API, "?" ou "#"; escreva "{ $instead }"
config-rate-least = limits.requests_per_minute deve ser pelo menos 1
config-rate-most = limits.requests_per_minute é { $rate }, e o marketplace permite { $most }; escreva um número de 1 a { $most }
config-type-text = um texto entre aspas
config-type-whole = um número inteiro
config-type-positive = um número inteiro a partir de 1
config-type-number = um número
config-type-switch = true ou false
config-type-list = uma lista entre colchetes
config-type-address = um endereço com porta ("127.0.0.1:8787")
config-type-table = uma seção com chaves
config-found-list = uma lista
config-found-table = uma seção
config-no-file = não é um arquivo comum: a configuração é lida de arquivos
config-file-pipe = { $path }: é um pipe, e a senha é lida mais de uma vez
config-operator = linha { $line }: escreva NOME:PAPEL:SENHA; o papel é operator ou viewer, a senha tem 16 letras ou mais, ou é sha256= com 64 dígitos
config-operator-twice = linha { $line }: este nome já está no arquivo
config-notice-address = { $field } não é um endereço; escreva https://…
config-notice-credentials = { $field } traz uma senha antes do nome da máquina; use um token ou uma parte do caminho
config-notice-https = { $field } deve começar com https://; http:// é só para esta máquina (127.0.0.1)
config-notice-twice = { $field } e { $field }_file estão escritos; deixe um só
config-notice-unreadable = { $field } não pode ser lido ({ $tried })
config-notice-needs = { $field } precisa de { $other } ao lado
config-notice-mailbox = { $field }: "{ $address }" não é um endereço de e-mail; escreva "nome@domínio" ou "Nome <nome@domínio>"
config-notice-plain = notices.smtp enviaria a senha sem criptografia; escreva tls = "starttls" ou "implicit"
config-notice-program = notices.exec.command: "{ $program }" não é um caminho completo; escreva um como "/usr/local/bin/programa"
config-notice-least = { $field } deve ser pelo menos 1
config-notice-most = { $field } pode ser no máximo { $most }
