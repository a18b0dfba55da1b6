# espelho sandbox: where the test marketplace is, how to log in, and why it did not start.

sandbox-loading = Loading the Olist data set from { $folder } …
sandbox-page = Open in a browser: { $address } (credentials and first commands; with --control, the control endpoints too)
sandbox-page-controls = Open in a browser: { $address } (credentials, first commands and control endpoints)
sandbox-api = Address of the API, which goes into base_url: { $address }
sandbox-storage = File server, where images and labels come from (it need not be opened): { $address }
sandbox-credential = Store { $store }: username { $username }, password { $password }
sandbox-more = And { $more ->
        [one] { $more } more store
       *[other] { $more } more stores
    }: the page shows all.
sandbox-try = Try in another terminal (a login ends the token of the one before): { $command }
sandbox-end = Ctrl-C ends it. Nothing is kept: every start with the same options gives the same stores and passwords.
sandbox-port = { $why }
    .next = Choose another port: { $option } { $free } takes a free one.
sandbox-file-unopened = { $file } cannot be opened: “{ $problem }”
    .next = Name the folder with Olist's seven .csv.gz files in --olist.
sandbox-file-unreadable = { $file } cannot be read as a table of the Olist data set: “{ $problem }”
    .next = Use Olist's files unchanged.
sandbox-bad-value = { $file }: column { $column } of record { $record } is unreadable.
    .next = Use Olist's files unchanged.
sandbox-not-started = The test marketplace could not start: “{ $problem }”
    .next = Try again. If it stays so, send this to whoever maintains espelho.
