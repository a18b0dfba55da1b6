# O banco de dados. O que ele mesmo disse vem entre aspas.

database-address = database.url “{ $url }” não serve: “{ $why }”
    .next = Escreva database.url como "sqlite:espelho.db" ou "postgres://usuario@servidor/banco".
database-connect = O banco de dados em { $url } não abre: “{ $cause }”
    .next = Confira se o caminho permite escrita ou se o servidor está no ar, e se usuário, senha e banco existem.
database-unknown = O servidor ({ $url }) não tem o banco de dados “{ $name }”.
    .next = Crie-o com createdb { $name } (no psql: CREATE DATABASE { $name };) e repita o comando.
database-network = O banco de dados em { $url } está em um sistema de arquivos de rede ({ $kind }).
    .next = Ponha o banco em um disco local ou use PostgreSQL: travas não valem pela rede.
database-old-library = Este programa foi feito com o SQLite { $found }, que pode danificar o próprio registro.
    .next = Instale um espelho feito com SQLite 3.51.3 ou mais novo.
database-damaged = O arquivo do banco de dados { $file } está danificado: “{ $what }”
    .next = Restaure uma cópia, ou mova o arquivo e comece de novo: o espelho lê tudo outra vez do marketplace; entregas e segredos estão no arquivo ao lado.
database-damaged-backup = A cópia { $path } está danificada: “{ $what }”
    .next = Use outra cópia: o banco de dados não foi tocado.
database-newer = O banco de dados tem o esquema { $found }, que esta versão do espelho não conhece.
    .next = Instale o espelho que o migrou, ou um mais novo: um banco não volta a um esquema anterior.
database-missing = Não há banco de dados em { $url }.
    .next = Inicie o serviço ou rode espelho migrate, que o criam; confira database.url.
database-vanished = O arquivo do banco de dados { $file } foi apagado ou movido; a caixa de entrada dele ainda está lá.
    .next = Ponha o arquivo de volta, ou um backup (espelho restore CAMINHO). Para começar do zero: espelho migrate --new
database-vanished-saved = O arquivo do banco de dados { $file } foi apagado ou movido. O serviço salvou o conteúdo em { $copy }.
    .next = espelho restore --replace { $copy }. Para começar do zero: espelho migrate --new
database-older = O banco de dados tem o esquema { $found }, e esta versão do espelho lê o { $wanted }.
    .next = Inicie o serviço desta versão ou rode espelho migrate
database-migrate = O banco de dados não pôde ser migrado: “{ $cause }”
    .next = Veja o que o banco diz: nada da migração que falhou foi mantido.
database-statement = { $kind ->
        [full] O disco do banco de dados está cheio.
        [busy] O banco de dados está ocupado por outro programa.
        [read-only] O banco de dados não permite escrita.
       *[other] O banco de dados recusou uma operação: “{ $cause }”
    }
    .next = { $kind ->
        [full] Libere espaço no disco: o espelho continua sozinho.
        [busy] Termine o que o outro programa faz: o espelho continua sozinho.
        [read-only] Dê ao usuário do espelho permissão de escrita no banco e na pasta dele.
       *[other] Veja o que o banco diz; confira espaço em disco e permissões.
    }
database-defect = Uma linha ou operação do banco de dados não pôde ser lida: “{ $what }”
    .next = É um defeito do espelho: informe-o com este texto.
database-other-store = O banco de dados tem a loja { $store } de { $kept }, e a configuração diz { $configured }.
    .next = Use um banco para cada ambiente, ou corrija environment e base_url no arquivo da loja.
database-webhook-elsewhere = O webhook da loja { $store } foi registrado em { $registered }, e webhook.public_url diz { $configured }.
    .next = Uma credencial tem um só webhook. Se outra instalação recebe lá, crie uma credencial para esta; para trazer o webhook para cá: espelho webhook move { $store }; ou volte ao endereço antigo.
database-held = A loja { $store } está com { $owner } desde { $since }.
    .next = Espere terminar, ou pare-o, e rode de novo.
database-lease-lost = A loja { $store } passou para outra instância.
    .next = Deixe uma só instância trabalhar em cada loja.
database-lock-file = O arquivo de trava { $path } não pode ser usado: “{ $cause }”
    .next = Confira se a pasta do banco de dados permite escrita e está em um disco local.
database-copy = { $path } não pôde ser copiado: “{ $cause }”
    .next = Veja a causa e rode de novo: o que havia antes não foi tocado.
database-backup-exists = Já existe algo em { $path }.
    .next = Indique uma pasta que ainda não existe.
database-no-backup = { $path } não é uma cópia: “{ $why }”
    .next = Indique uma pasta feita por espelho backup
database-occupied = Já existe um espelho em { $path }.
    .next = Acrescente --replace para pôr a cópia no lugar: os arquivos que estão lá são guardados ao lado.
database-in-use = { $path } está em uso por outro processo.
    .next = Pare o serviço e tudo o que lê o banco de dados, e rode de novo.
database-restoring = O banco de dados { $path } está sendo restaurado.
    .next = Espere a restauração terminar e inicie de novo.
database-no-room = { $path } tem { $free } MiB livres, e uma cópia do banco de dados precisa de { $needed } MiB.
    .next = Libere espaço no disco. Para migrar sem cópia: espelho migrate --no-backup
database-unwritable = O banco de dados não consegue guardar o que o marketplace diz deste registro: “{ $cause }”
    .next = Avise quem mantém o espelho, com este texto.
