# espelho forget.

forget-done = { $store }, { $at }: the person is erased from { $orders ->
        [one] { $orders } order
       *[other] { $orders } orders
    }, { $rows ->
        [one] { $rows } row
       *[other] { $rows } rows
    }; recorded for { $by }.
forget-would = { $store }: the person would be erased from { $orders ->
        [one] { $orders } order
       *[other] { $orders } orders
    }, { $rows ->
        [one] { $rows } row
       *[other] { $rows } rows
    }; nothing is changed.
forget-table = { "  " }{ $table }: { $rows }
forget-open-commands = { $count ->
        [one] { $count } command about these orders is not carried out yet and keeps its text until then.
       *[other] { $count } commands about these orders are not carried out yet and keep their texts until then.
    }
    .next = When it is done, run espelho forget again with the order's number.
forget-backup = This backup still has the person, or cannot be read: { $path }
    .next = Delete it when you no longer need it; after a restore, run espelho forget again.
forget-not-compact = Deleted text may still be in free parts of the database's files: they are large, or other programs read them.
    .next = With the service stopped, run VACUUM on the database's file and on the file -inbox beside it.
forget-already = This person was erased already: { $at }
forget-unknown = espelho has no order of this person.
    .next = Check the e-mail, CPF or CNPJ, or give the number of one of the person's orders; espelho explain NUMBER shows whether an order is known.
forget-labels-kept = The person's label files cannot be removed, and nothing was erased: “{ $problem }”
    .next = Run the command as the user of the service: sudo -u espelho espelho forget …
forget-ambiguous = This number may be two people: an order's and a customer's, or one of several stores. Nothing was erased.
    .next = Name the store (--store KEY), or the person by CPF, CNPJ or e-mail address
forget-unfinished = An earlier erasure of this person did not come to its end; what was not blanked is not found by this name any more.
    .next = Run it again with the number of each of the person's orders
forget-everyone-confirm = Erase the people of all { $orders } orders of the store { $store }, for good? (y/n)
forget-everyone-not-confirmed = Nothing was erased: this needs a yes.
    .next = espelho forget --everyone --store KEY --yes
