# espelho migrate --rehearse: as migrações pendentes em uma cópia.

rehearsal-current = Nenhuma migração pendente: { $address } está atualizado.
rehearsal-copied = { $way ->
        [backup] Copiado como backup
        [template] Copiado pelo servidor
       *[dump] Copiado por pg_dump e pg_restore
    }: { $size } MiB em { $took } s. Migrações pendentes:
rehearsal-step = { $name }{ $part ->
        [inbox] , segundo arquivo
       *[other] {""}
    }: { $state ->
        [done] { $took } s
        [failed] falhou depois de { $took } s
       *[not_run] não foi tentada
    }
rehearsal-objects = { $change ->
        [added] novo
        [changed] alterado
       *[dropped] removido
    }: { $objects }
rehearsal-locks = espera até o fim dela: quem { $who ->
        [everyone] lê ou grava
       *[writers] grava
    } { $tables }
rehearsal-locks-file = espera até o fim dela: quem grava neste arquivo; quem lê não espera
rehearsal-locks-none = ninguém espera por ela
rehearsal-rows-same = Linhas: { $rows } em { $tables ->
        [1] { $tables } tabela
       *[other] { $tables } tabelas
    }, tantas quanto antes
rehearsal-rows = { $table }: { $before } → { $after } linhas
rehearsal-rows-new = { $table }: nova, { $after ->
        [1] { $after } linha
       *[other] { $after } linhas
    }
rehearsal-rows-dropped = { $table }: removida, tinha { $before ->
        [1] { $before } linha
       *[other] { $before } linhas
    }
rehearsal-mended = Refeitos quando o banco for aberto: { $objects }
rehearsal-total = As migrações levam { $took } s e, com a cópia feita antes delas, ocupam { $size } MiB do disco, que tem { $free } MiB livres.
rehearsal-total-server = As migrações levam { $took } s e ocupam { $size } MiB do disco do servidor.
rehearsal-removed = A cópia foi removida; nada mudou em { $address }.
rehearsal-stopped = Interrompido antes do fim; a cópia foi removida e nada mudou.
    .next = Rode de novo.
rehearsal-failed = A migração { $version } falhou na cópia: “{ $cause }”
    .next = Não atualize: o banco de dados está intacto, e a versão anterior continua com ele. Relate isto com o texto.
rehearsal-fewer = Menos linhas do que antes em: { $tables }.
    .next = Veja em CHANGELOG.md se isso é esperado antes de atualizar.
rehearsal-no-right = O papel { $role } não pode criar bancos de dados, e o ensaio precisa de um para a cópia.
    .next = Enquanto durar o ensaio: ALTER ROLE "{ $role }" CREATEDB. Ou restaure um dump em um banco à parte e migre esse: ESPELHO__DATABASE__URL=postgres://… espelho migrate
rehearsal-no-programs = Há outros conectados ao banco de dados; então só pg_dump e pg_restore podem copiá-lo, e eles não estão instalados aqui.
    .next = Instale-os (postgresql-client), ou pare quem está conectado e rode de novo.
rehearsal-dump-failed = pg_dump e pg_restore não conseguem copiar o banco de dados: “{ $cause }”
    .next = Veja as palavras deles: precisam ser da versão do servidor ou mais novos. Ou pare quem está conectado e rode de novo.
