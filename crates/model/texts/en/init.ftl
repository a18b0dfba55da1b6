# espelho init: the questions, and what it wrote.

init-base-url = Address of the marketplace's API:
init-username = Username (from the seller portal, like minha-loja@a1b2c3d4):
init-password = Password (is not shown):
init-password-again = The marketplace refused the username or the password. Password once more (is not shown; Enter alone keeps the files as they are):
init-database = Database [{ $default }]:
init-webhook = Public address of the webhook, https://YOUR-HOST/webhooks/{ $store } [none: polling only]:
init-language = Language of the texts in the database and in the configuration, pt-BR or en [{ $default }]:
init-language-unknown = “{ $tag }” is no language: pt-BR or en
init-ended = The questions ended without an answer. Nothing was written.
init-options-missing = Without a terminal nothing can be asked. These are missing: { $options }
    .next = espelho init --help explains each option
init-bad-key = “{ $key }” cannot be a store's name (small letters, digits, hyphen and _).
    .next = choose another: --store my-store
init-no-password-file = { $file } does not exist.
    .next = write the password into it (mode 600), or leave --password-file out and type it
init-no-folder = The folder { $folder } does not exist.
    .next = make it, or name a database in another folder
init-store-exists = { $file } exists already.
    .next = for another store, --store KEY; to replace the file, --replace; if only the password changed, write it into { $password }
init-written = written: { $file }
init-next-systemd = The configuration is ready. Now the service, the port of its webhooks and the nightly backup: sudo systemctl enable --now espelho espelho.socket espelho-backup.timer
init-not-written = { $file } cannot be written: “{ $problem }”
init-next-run = The configuration is ready. Now: espelho --config { $folder } run
init-next-doctor = The files are written. Correct what is marked above, and look again with: espelho --config { $folder } doctor
init-next-reload = The files are written. The running service still uses the earlier configuration: sudo espelho reload
