# CSV files of stock and prices.

files-bad-lines = { $file }: { $lines }
    .next = Nothing was imported: correct these lines and import it again.
files-report-head = Nothing of this file was imported. Correct these lines, and put the file into the folder again:
files-line = line { $line }: { $problem }
files-more-lines = { $more ->
        [one] and { $more } more line
       *[other] and { $more } more lines
    }
files-too-large = the file has more than { $most } bytes; make several of it
files-unreadable = the file cannot be read: “{ $problem }”
files-missing = there is no such file
files-line-unreadable = the line cannot be read (UTF-8? number of columns?): “{ $problem }”
files-panicked = espelho itself failed on this line, at { $place }; send the line to whoever maintains it
files-poisoned = espelho ended twice while it read this file; send the file to whoever maintains it
files-missing-column = the column { $column } is missing
files-unknown-column = the column “{ $column }” is not known
files-column-twice = the column { $column } stands there twice
files-row-twice = { $key } stands in line { $first } already
files-no-price = price and discount_percent are missing; give one of them
files-ambiguous = { $field } is “{ $value }”: write { $thousands } or { $decimals }
files-whole-number = { $field } is “{ $value }”, which is not a whole number
files-four-measures = all four of package_*, or none of them
