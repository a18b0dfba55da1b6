# espelho forget.

forget-done = { $store }, { $at }: a pessoa foi apagada de { $orders ->
        [1] { $orders } pedido
       *[other] { $orders } pedidos
    }, { $rows ->
        [1] { $rows } linha
       *[other] { $rows } linhas
    }; registrado por { $by }.
forget-would = { $store }: a pessoa seria apagada de { $orders ->
        [1] { $orders } pedido
       *[other] { $orders } pedidos
    }, { $rows ->
        [1] { $rows } linha
       *[other] { $rows } linhas
    }; nada foi alterado.
forget-table = { "  " }{ $table }: { $rows }
forget-open-commands = { $count ->
        [1] { $count } comando sobre estes pedidos ainda não foi executado e mantém seu texto até lá.
       *[other] { $count } comandos sobre estes pedidos ainda não foram executados e mantêm seus textos até lá.
    }
    .next = Quando estiver feito, execute espelho forget de novo com o número do pedido.
forget-backup = Este backup ainda tem a pessoa, ou não pode ser lido: { $path }
    .next = Apague-o quando não precisar mais dele; depois de restaurar, execute espelho forget de novo.
forget-not-compact = Texto apagado ainda pode estar em partes livres dos arquivos do banco: são grandes, ou outros programas os leem.
    .next = Com o serviço parado, execute VACUUM no arquivo do banco e no arquivo -inbox ao lado dele.
forget-already = Esta pessoa já foi apagada: { $at }
forget-unknown = O espelho não tem nenhum pedido desta pessoa.
    .next = Confira o e-mail, CPF ou CNPJ, ou informe o número de um pedido da pessoa; espelho explain NÚMERO mostra se um pedido é conhecido.
forget-labels-kept = Os arquivos de etiquetas da pessoa não podem ser removidos, e nada foi apagado: “{ $problem }”
    .next = Execute o comando como o usuário do serviço: sudo -u espelho espelho forget …
forget-ambiguous = Este número pode ser de duas pessoas: de um pedido e de um cliente, ou de várias lojas. Nada foi apagado.
    .next = Indique a loja (--store CHAVE), ou a pessoa por CPF, CNPJ ou e-mail
forget-unfinished = Uma eliminação anterior desta pessoa não chegou ao fim; o que restou não se encontra mais por este dado.
    .next = Execute de novo com o número de cada pedido da pessoa
forget-everyone-confirm = Apagar as pessoas de todos os { $orders } pedidos da loja { $store }, para sempre? (s/n)
forget-everyone-not-confirmed = Nada foi apagado: isto precisa de um sim.
    .next = espelho forget --everyone --store LOJA --yes
