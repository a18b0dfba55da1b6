# Where the database is (contract 1). The message says what there is; `.next` says the next step.

place-no-database = There is no database at { $path } ({ $why }).
    .next = start the service or run `espelho migrate`, which makes it there; if the database is somewhere else, write the absolute path into database.url

place-other-database = There is no database at { $path } ({ $why }), but there is one at { $other }. Nothing was made.
    .next = to use the one that is there, write database.url = "sqlite:{ $other }"; to make another one all the same, run `espelho migrate --new`

place-denied = This user may not read and write { $path }.
    .next = run the command as the service's user: sudo -u { $user } { $command }; if it is the service itself that may not: sudo chown espelho:espelho { $path }. Who only uses the tables joins the group espelho and opens the database by SQL

place-denied-to-service = The service's user may not read and write { $path }.
    .next = sudo chown espelho:espelho { $path }

place-why-given = the folder comes from STATE_DIRECTORY
place-why-installed = the path in database.url is relative to { $folder }, which exists
place-why-working = the path in database.url is relative to the working directory: there is neither STATE_DIRECTORY nor { $folder }
place-why-absolute = the path in database.url is absolute
place-foreign = The file { $path } belongs to another user, who could read the tokens and secrets that are written to it.
    .next = run as the service's user (sudo -u espelho { $command }); if that does, find out who made the file, and move it away
place-beside-service = A service answers on { $address } and works on these stores, and its database is not { $path } ({ $why }). Nothing was made.
    .next = run the command as the service runs: sudo -u espelho { $command }, or with the service's STATE_DIRECTORY; or write the absolute path into database.url
