# Onde fica o banco de dados (contrato 1). A mensagem diz o que há; `.next` diz o próximo passo.

place-no-database = Não há banco de dados em { $path } ({ $why }).
    .next = inicie o serviço ou rode `espelho migrate`, que cria o banco ali; se o banco fica em outro lugar, escreva o caminho absoluto em database.url

place-other-database = Não há banco de dados em { $path } ({ $why }), mas há um em { $other }. Nada foi criado.
    .next = para usar o que já existe, escreva database.url = "sqlite:{ $other }"; para criar outro mesmo assim, rode `espelho migrate --new`

place-denied = Este usuário não pode ler e gravar { $path }.
    .next = rode o comando como o usuário do serviço: sudo -u { $user } { $command }; se é o próprio serviço que não pode: sudo chown espelho:espelho { $path }. Quem só usa as tabelas entra no grupo espelho e abre o banco por SQL

place-denied-to-service = O usuário do serviço não pode ler e gravar { $path }.
    .next = sudo chown espelho:espelho { $path }

place-why-given = a pasta vem de STATE_DIRECTORY
place-why-installed = o caminho de database.url é relativo a { $folder }, que existe
place-why-working = o caminho de database.url é relativo à pasta atual: não há STATE_DIRECTORY nem { $folder }
place-why-absolute = o caminho de database.url é absoluto
place-foreign = O arquivo { $path } é de outro usuário, que poderia ler os tokens e segredos gravados nele.
    .next = rode como o usuário do serviço (sudo -u espelho { $command }); se já for ele, descubra quem criou o arquivo e tire-o dali
place-beside-service = Um serviço responde em { $address } e cuida destas lojas, e o banco de dados dele não é { $path } ({ $why }). Nada foi criado.
    .next = rode o comando como o serviço roda: sudo -u espelho { $command }, ou com o STATE_DIRECTORY do serviço; ou escreva o caminho absoluto em database.url
