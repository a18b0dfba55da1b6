# espelho migrate --rehearse: the pending migrations on a copy.

rehearsal-current = No migration is pending: { $address } is up to date.
rehearsal-copied = { $way ->
        [backup] Copied as a backup
        [template] Copied by the server
       *[dump] Copied by pg_dump and pg_restore
    }: { $size } MiB in { $took } s. Pending migrations:
rehearsal-step = { $name }{ $part ->
        [inbox] , second file
       *[other] {""}
    }: { $state ->
        [done] { $took } s
        [failed] failed after { $took } s
       *[not_run] not tried
    }
rehearsal-objects = { $change ->
        [added] new
        [changed] other
       *[dropped] gone
    }: { $objects }
rehearsal-locks = waits until its end: whoever { $who ->
        [everyone] reads or writes
       *[writers] writes
    } { $tables }
rehearsal-locks-file = waits until its end: whoever writes to this file; readers do not wait
rehearsal-locks-none = nobody waits for it
rehearsal-rows-same = Rows: { $rows } in { $tables ->
        [one] { $tables } table
       *[other] { $tables } tables
    }, as many as before
rehearsal-rows = { $table }: { $before } → { $after } rows
rehearsal-rows-new = { $table }: new, { $after ->
        [one] { $after } row
       *[other] { $after } rows
    }
rehearsal-rows-dropped = { $table }: dropped, it had { $before ->
        [one] { $before } row
       *[other] { $before } rows
    }
rehearsal-mended = Made again when the database is opened: { $objects }
rehearsal-total = The migrations take { $took } s, and with the backup before them { $size } MiB of the disk, which has { $free } MiB free.
rehearsal-total-server = The migrations take { $took } s, and { $size } MiB of the server's disk.
rehearsal-removed = The copy is removed; nothing was changed in { $address }.
rehearsal-stopped = Stopped before the end; the copy is removed, and nothing was changed.
    .next = Run again.
rehearsal-failed = Migration { $version } failed on the copy: “{ $cause }”
    .next = Do not upgrade: the database is untouched, and the version before goes on with it. Report this with the text.
rehearsal-fewer = Fewer rows than before in: { $tables }.
    .next = Look into CHANGELOG.md whether that is meant before you upgrade.
rehearsal-no-right = The role { $role } may not create databases, and a rehearsal needs one for its copy.
    .next = For the time of the rehearsal: ALTER ROLE "{ $role }" CREATEDB. Or restore a dump into a database of its own, and migrate that: ESPELHO__DATABASE__URL=postgres://… espelho migrate
rehearsal-no-programs = Others are connected to the database, so only pg_dump and pg_restore can copy it, and they are not installed here.
    .next = Install them (postgresql-client), or stop whatever is connected and run again.
rehearsal-dump-failed = The database cannot be copied by pg_dump and pg_restore: “{ $cause }”
    .next = See their own words: they must be of the server's version or later. Or stop whatever is connected and run again.
