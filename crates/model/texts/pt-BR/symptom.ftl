# Como algo de fora falha, em poucas frases que são sempre as mesmas.

symptom-name-unknown = o nome não foi encontrado no DNS
symptom-connection-refused = a conexão foi recusada
symptom-no-connection = não houve conexão
symptom-no-trust = o certificado ou o TLS não foi aceito
symptom-timed-out = sem resposta dentro do prazo
symptom-cut-off = a conexão caiu antes do fim da resposta
symptom-status = respondeu com HTTP { $status }
symptom-not-readable = a resposta não é JSON da API (uma página, um proxy?)
symptom-too-large = a resposta é grande demais
symptom-refused = respondeu com o erro { $code }
symptom-file = o arquivo { $file }
symptom-other = outra falha

# O banco de dados recusa; o código dele vem no fim.

symptom-database-closed = ele não aceita mais conexões ({ $code })
    .next = permita conexões ao banco no servidor (ALTER DATABASE … ALLOW_CONNECTIONS true)
symptom-database-restarting = o servidor está iniciando ou parando ({ $code })
    .next = espere o servidor voltar; se durar, veja o log do PostgreSQL
symptom-database-unknown = o servidor não tem este banco de dados ({ $code })
    .next = confira o nome do banco em database.url, ou ponha uma cópia no lugar dele
symptom-database-connections = todas as conexões do servidor estão em uso ({ $code })
    .next = encerre conexões que ninguém usa ou aumente max_connections no PostgreSQL
symptom-database-resources = falta memória ou outro recurso ao servidor ({ $code })
    .next = veja a memória e os limites da máquina do banco de dados, e o log do PostgreSQL
symptom-database-full = o disco do banco de dados está cheio ({ $code })
    .next = libere espaço no disco do banco de dados
symptom-database-busy = outro programa mantém o banco de dados bloqueado ({ $code })
    .next = encerre a transação que o outro programa mantém aberta
symptom-database-read-only = ele só pode ser lido, não gravado ({ $code })
    .next = permita a gravação: no PostgreSQL, default_transaction_read_only e o papel do servidor; no SQLite, o modo do arquivo e da pasta, e o disco (mount, dmesg)
symptom-database-login = o servidor recusa o usuário ou a senha ({ $code })
    .next = confira usuário e senha em database.url, e o pg_hba.conf do servidor
symptom-database-rights = falta permissão ao usuário do espelho ({ $code })
    .next = dê ao usuário do espelho as permissões que lhe faltam no banco (GRANT), ou faça dele o dono das tabelas
symptom-database-damaged = os dados estão danificados, ou o arquivo não é um banco de dados ({ $code })
    .next = confira o caminho em database.url; se estiver certo, restaure uma cópia (no SQLite: espelho restore CAMINHO)
symptom-database-disk = o disco falha ao ler ou gravar ({ $code })
    .next = veja o disco do banco de dados (dmesg)
symptom-database-file = o arquivo não pode ser aberto ({ $code })
    .next = confira o caminho em database.url e se o usuário do espelho pode ler e gravar o arquivo e a pasta dele
