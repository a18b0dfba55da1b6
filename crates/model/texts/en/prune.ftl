# espelho prune: what goes of each table.

prune-done = Deleted:
prune-dry = Would be deleted (--dry-run; nothing was changed):
prune-line = { $table }: { $rows ->
        [one] { $rows } row
       *[other] { $rows } rows
    }, { $size } bytes, of before { $before }
prune-kept-changes = changes: kept; with --older-than what every consumer has acknowledged goes (nothing without a consumer)
prune-kept-label-files = label_files: kept; labels.keep_days is not set
prune-left = label_files: { $rows ->
        [one] { $rows } file
       *[other] { $rows } files
    } of { $store } left to the process that holds the store; a service removes them within the hour
