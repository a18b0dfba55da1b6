# Cópia, restauração e migração do banco de dados.

copies-postgres-backup = O banco de dados está em um servidor PostgreSQL, que tem as próprias ferramentas de cópia.
    .next = Rode: pg_dump --format=custom --file=espelho.dump "{ $url }"
copies-postgres-restore = O banco de dados está em um servidor PostgreSQL, que tem as próprias ferramentas de cópia.
    .next = Com todos os serviços parados, rode: pg_restore --clean --if-exists --dbname="{ $url }" espelho.dump; depois os comandos de “Backups” em docs/OPERATIONS.md.
copies-restored = A cópia está no lugar: { $place }
copies-kept = Os arquivos que estavam lá ficaram em { $folder }
copies-deliveries = { $deliveries ->
        [1] { $deliveries } entrega que a cópia não tinha foi aproveitada deles.
       *[other] { $deliveries } entregas que a cópia não tinha foram aproveitadas deles.
    }
copies-inbox-lost = As entregas deles não puderam ser lidas: o que chegou depois da cópia se perdeu.
copies-mirror-lost = O espelho deles não pôde ser lido: nada foi aproveitado dele.
copies-feed = O feed continua acima de { $from } e conta cada linha mais uma vez; os leitores mantêm seu lugar.
copies-next-start = O próximo início faz login de novo e concilia tudo.
copies-other-installation = Se outra instalação ainda usa as credenciais destas lojas, não rode aqui espelho run nem espelho doctor --login antes de pará-la: cada login daqui encerra o token dela.
copies-migrated = O banco de dados { $address } está atualizado.
copies-before-migration = Uma cópia de antes está em { $path }
copies-verified = { $path }: restaurada e conferida em { $span }: { $orders } pedidos, { $products } produtos
copies-none = não há nenhuma cópia em { $folder }
    .next = espelho backup
copies-no-folder = a pasta do banco de dados não existe: { $folder }
    .next = mkdir -p { $quoted }; depois repita o comando
copies-no-scratch = o lugar à parte não pôde ser criado: “{ $problem }”
    .next = df -h e ls -ld da pasta do banco; o usuário deste comando precisa poder gravar nela
