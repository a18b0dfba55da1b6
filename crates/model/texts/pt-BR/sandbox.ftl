# espelho sandbox: onde está o marketplace de teste, como entrar nele, e por que não iniciou.

sandbox-loading = Lendo os dados da Olist em { $folder } …
sandbox-page = Abra no navegador: { $address } (credenciais e primeiros comandos; com --control, também os controles)
sandbox-page-controls = Abra no navegador: { $address } (credenciais, primeiros comandos e controles)
sandbox-api = Endereço da API, que vai em base_url: { $address }
sandbox-storage = Servidor de arquivos, de onde vêm imagens e etiquetas (não precisa ser aberto): { $address }
sandbox-credential = Loja { $store }: usuário { $username }, senha { $password }
sandbox-more = E mais { $more ->
        [1] { $more } loja
       *[other] { $more } lojas
    }: a página mostra todas.
sandbox-try = Experimente em outro terminal (um login encerra o token do anterior): { $command }
sandbox-end = Ctrl-C encerra. Nada é guardado: cada início com as mesmas opções dá as mesmas lojas e senhas.
sandbox-port = { $why }
    .next = Escolha outra porta: { $option } { $free } usa uma livre.
sandbox-file-unopened = { $file } não pode ser aberto: “{ $problem }”
    .next = Indique em --olist a pasta com os sete arquivos .csv.gz da Olist.
sandbox-file-unreadable = { $file } não pode ser lido como tabela da Olist: “{ $problem }”
    .next = Use os arquivos da Olist sem alterações.
sandbox-bad-value = { $file }: a coluna { $column } do registro { $record } é ilegível.
    .next = Use os arquivos da Olist sem alterações.
sandbox-not-started = O marketplace de teste não pôde iniciar: “{ $problem }”
    .next = Tente de novo. Se continuar assim, informe isto a quem mantém o espelho.
