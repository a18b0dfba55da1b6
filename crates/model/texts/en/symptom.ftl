# How something elsewhere fails, in a few phrases that are the same each time.

symptom-name-unknown = the name was not found in DNS
symptom-connection-refused = the connection was refused
symptom-no-connection = no connection came about
symptom-no-trust = the certificate or TLS was not accepted
symptom-timed-out = no answer in time
symptom-cut-off = the connection ended before the answer did
symptom-status = answered with HTTP { $status }
symptom-not-readable = the answer is no JSON of the API (a page, a proxy?)
symptom-too-large = the answer is too large
symptom-refused = answered with the error { $code }
symptom-file = the file { $file }
symptom-other = another failure

# The database refuses; its own code comes last.

symptom-database-closed = it no longer accepts connections ({ $code })
    .next = allow connections to the database on the server (ALTER DATABASE … ALLOW_CONNECTIONS true)
symptom-database-restarting = the server is starting or stopping ({ $code })
    .next = wait until the server is back; if that takes long, see PostgreSQL's log
symptom-database-unknown = the server has no such database ({ $code })
    .next = check the name of the database in database.url, or put a copy in its place
symptom-database-connections = all connections of the server are in use ({ $code })
    .next = end connections that nobody uses, or raise max_connections in PostgreSQL
symptom-database-resources = the server lacks memory or another resource ({ $code })
    .next = see the memory and the limits of the database's machine, and PostgreSQL's log
symptom-database-full = the disk of the database is full ({ $code })
    .next = make room on the disk of the database
symptom-database-busy = another program keeps the database locked ({ $code })
    .next = end the transaction that the other program keeps open
symptom-database-read-only = it can be read, not written ({ $code })
    .next = allow writes: in PostgreSQL, default_transaction_read_only and the server's role; in SQLite, the mode of the file and its folder, and the disk (mount, dmesg)
symptom-database-login = the server refuses the user or the password ({ $code })
    .next = check user and password in database.url, and the server's pg_hba.conf
symptom-database-rights = espelho's user lacks a permission ({ $code })
    .next = give espelho's user the permissions that it lacks in the database (GRANT), or make it the owner of the tables
symptom-database-damaged = the data are damaged, or the file is no database ({ $code })
    .next = check the path in database.url; if it is right, restore a copy (in SQLite: espelho restore PATH)
symptom-database-disk = the disk fails to read or to write ({ $code })
    .next = see the disk of the database (dmesg)
symptom-database-file = the file cannot be opened ({ $code })
    .next = check the path in database.url, and that espelho's user may read and write the file and its folder
