# What espelho's own work says on the rows of commands.
engine-label-files-awaited = the labels are ready at the marketplace; { $left ->
        [one] one file is
       *[other] { $left } files are
    } still to be fetched
    .next = nothing to do: it takes some seconds
engine-label-file-blocked = the label's file does not come: { $cause }
    .next = { $step }
engine-label-files-missing = the labels are ready at the marketplace, and their files did not come within { $waited }
    .next = look at labels.formats, labels.days and labels.directory in the configuration; espelho retry { $row } waits again
engine-label-format-off = the format { $format } is not in labels.formats: its file would not be fetched
    .next = add { $format } to labels.formats in the store's configuration; then espelho retry { $row }
engine-not-in-dry-run = A dry run does not read it.
engine-labels-off = The store's file does not ask for labels ([labels]): nothing to fetch.
