# Backup, restore and migration of the database.

copies-postgres-backup = The database is on a PostgreSQL server, which has tools of its own for backups.
    .next = Run: pg_dump --format=custom --file=espelho.dump "{ $url }"
copies-postgres-restore = The database is on a PostgreSQL server, which has tools of its own for backups.
    .next = With all services stopped, run: pg_restore --clean --if-exists --dbname="{ $url }" espelho.dump; then the statements under “Backups” in docs/OPERATIONS.md.
copies-restored = The backup is in place: { $place }
copies-kept = The files that were there are in { $folder }
copies-deliveries = { $deliveries ->
        [one] { $deliveries } delivery that the backup did not have was taken over from them.
       *[other] { $deliveries } deliveries that the backup did not have were taken over from them.
    }
copies-inbox-lost = Their inbox could not be read: deliveries that came after the backup are lost.
copies-mirror-lost = Their mirror could not be read: nothing was taken over from it.
copies-feed = The change feed goes on above { $from } and tells of every row once more; readers keep their place.
copies-next-start = The next start logs in again and reconciles completely.
copies-other-installation = If another installation still uses the credentials of these stores, stop it before espelho run or espelho doctor --login runs here: each login here ends its token.
copies-migrated = The database { $address } is up to date.
copies-before-migration = A backup of before is in { $path }
copies-verified = { $path }: restored and checked in { $span }: { $orders } orders, { $products } products
copies-none = there is no backup in { $folder }
    .next = espelho backup
copies-no-folder = the database's folder does not exist: { $folder }
    .next = mkdir -p { $quoted }; then repeat the command
copies-no-scratch = the place of its own cannot be made: “{ $problem }”
    .next = df -h and ls -ld of the database's folder; the user of this command must be able to write there
