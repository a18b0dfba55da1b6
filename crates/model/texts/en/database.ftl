# The database. Its own words are quoted.

database-address = database.url “{ $url }” cannot be used: “{ $why }”
    .next = Write database.url as "sqlite:espelho.db" or "postgres://user@host/db".
database-connect = The database at { $url } cannot be opened: “{ $cause }”
    .next = Check that the path is writable or the server runs, and that user, password and database exist.
database-unknown = The server ({ $url }) has no database “{ $name }”.
    .next = Create it with createdb { $name } (in psql: CREATE DATABASE { $name };) and give the command again.
database-network = The database at { $url } lies on a network file system ({ $kind }).
    .next = Put the database on a local disk, or use PostgreSQL: locks do not hold over a network.
database-old-library = This binary was built with SQLite { $found }, which can damage its own log.
    .next = Install an espelho that was built with SQLite 3.51.3 or later.
database-damaged = The database file { $file } is damaged: “{ $what }”
    .next = Put a backup in its place, or move it away and start again: the mirror is read again from the marketplace; deliveries and secrets are in the file beside it.
database-damaged-backup = The backup { $path } is damaged: “{ $what }”
    .next = Take another backup: the database is untouched.
database-newer = The database has schema version { $found }, which this version of espelho does not know.
    .next = Install the espelho that migrated it, or a later one: a database is never migrated back.
database-missing = There is no database at { $url }.
    .next = Start the service or run espelho migrate, which create it; check database.url.
database-vanished = The database file { $file } was deleted or moved; its inbox is still there.
    .next = Put the file back, or a backup (espelho restore PATH). To begin anew: espelho migrate --new
database-vanished-saved = The database file { $file } was deleted or moved. The service saved its content in { $copy }.
    .next = espelho restore --replace { $copy }. To begin anew: espelho migrate --new
database-older = The database has schema version { $found }, and this version of espelho reads { $wanted }.
    .next = Start the service of this version or run espelho migrate
database-migrate = The database cannot be migrated: “{ $cause }”
    .next = See the database's own words: nothing of the failed migration was kept.
database-statement = { $kind ->
        [full] The disk of the database is full.
        [busy] Another program keeps the database busy.
        [read-only] The database cannot be written to.
       *[other] The database refused an operation: “{ $cause }”
    }
    .next = { $kind ->
        [full] Make room on the disk: the mirror goes on by itself.
        [busy] End what the other program does: the mirror goes on by itself.
        [read-only] Let espelho's user write to the database and its folder.
       *[other] See the database's own words; check disk space and permissions.
    }
database-defect = A row or operation of the database cannot be read: “{ $what }”
    .next = This is a defect of espelho: report it with this text.
database-other-store = The database holds store { $store } of { $kept }, and the configuration says { $configured }.
    .next = Use one database for each environment, or correct environment and base_url in the store's file.
database-webhook-elsewhere = The webhook of store { $store } was registered at { $registered }, and webhook.public_url says { $configured }.
    .next = A credential has one webhook. If another installation receives there, make a credential for this one; to move the webhook here: espelho webhook move { $store }; or write the old address again.
database-held = Store { $store } is held by { $owner }, since { $since }.
    .next = Wait until it ends, or stop it, and run again.
database-lease-lost = Store { $store } was taken by another instance.
    .next = Let only one instance work on a store.
database-lock-file = The lock file { $path } cannot be used: “{ $cause }”
    .next = Check that the folder of the database is writable and on a local disk.
database-copy = { $path } cannot be copied: “{ $cause }”
    .next = See the cause and run it again: what was there before is untouched.
database-backup-exists = There is already something at { $path }.
    .next = Name a folder that does not exist yet.
database-no-backup = { $path } is no backup: “{ $why }”
    .next = Name a folder made by espelho backup
database-occupied = There is a mirror at { $path } already.
    .next = Give --replace to put the backup in its place: the files that are there are kept beside it.
database-in-use = { $path } is in use by another process.
    .next = Stop the service and whatever else reads the database, and run again.
database-restoring = The database { $path } is being restored.
    .next = Wait until the restore has ended, and start again.
database-no-room = { $path } has { $free } MiB free, and a copy of the database needs { $needed } MiB.
    .next = Make room on the disk. To migrate without a backup: espelho migrate --no-backup
database-unwritable = The database cannot hold what the marketplace says of this record: “{ $cause }”
    .next = Tell whoever maintains the mirror, with this text.
