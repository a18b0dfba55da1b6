# espelho init: as perguntas e o que ele gravou.

init-base-url = Endereço da API do marketplace:
init-username = Usuário (do portal do vendedor, como minha-loja@a1b2c3d4):
init-password = Senha (não aparece):
init-password-again = O marketplace recusou o usuário ou a senha. A senha outra vez (não aparece; só Enter deixa os arquivos como estão):
init-database = Banco de dados [{ $default }]:
init-webhook = Endereço público do webhook, https://SEU-SERVIDOR/webhooks/{ $store } [nenhum: só consultas]:
init-language = Idioma dos textos no banco de dados e na configuração, pt-BR ou en [{ $default }]:
init-language-unknown = “{ $tag }” não é um idioma: pt-BR ou en
init-ended = As perguntas terminaram sem resposta. Nada foi gravado.
init-options-missing = Sem terminal não há perguntas. Faltam: { $options }
    .next = espelho init --help explica cada opção
init-bad-key = “{ $key }” não serve como nome de loja (letras minúsculas, números, hífen e _).
    .next = escolha outro: --store minha-loja
init-no-password-file = { $file } não existe.
    .next = grave a senha nele (modo 600), ou deixe --password-file de fora e digite-a
init-no-folder = A pasta { $folder } não existe.
    .next = crie-a, ou indique um banco de dados em outra pasta
init-store-exists = { $file } já existe.
    .next = para outra loja, --store LOJA; para substituir o arquivo, --replace; se só a senha mudou, grave-a em { $password }
init-written = gravado: { $file }
init-next-systemd = A configuração está pronta. Agora o serviço, a porta dos webhooks e o backup de cada noite: sudo systemctl enable --now espelho espelho.socket espelho-backup.timer
init-not-written = { $file } não pôde ser gravado: “{ $problem }”
init-next-run = A configuração está pronta. Agora: espelho --config { $folder } run
init-next-doctor = Os arquivos estão gravados. Corrija o que está marcado acima e confira com: espelho --config { $folder } doctor
init-next-reload = Os arquivos estão gravados. O serviço que está rodando ainda usa a configuração anterior: sudo espelho reload
