# espelho prune: what goes of each table.

prune-done = Deleted:
prune-dry = Would be deleted (--dry-run; nothing was changed):
prune-line = { $table }: { $rows ->
        [one] { $rows } row
       *[other] { $rows } rows
    }, { $size } bytes, of before { $before }
prune-kept-changes = changes: kept; with retention.changes_days or --older-than what every consumer has acknowledged goes (nothing without a consumer)
prune-kept-label-files = label_files: kept; labels.keep_days is not set
prune-kept-sync-runs = sync_runs: kept; retention.runs_days is not set
prune-kept-commands = commands: kept; retention.commands_days is not set
prune-kept-messages = messages: kept; retention.messages_days is not set
prune-kept-raw = raw: kept; retention.raw_days is not set
prune-left = label_files: { $rows ->
        [one] { $rows } file
       *[other] { $rows } files
    } of { $store } left to the process that holds the store; a service removes them within the hour
