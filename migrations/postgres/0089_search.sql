-- What a search finds by a number that people know and that is no key: a fiscal document's. It may be longer than an index
-- takes.
CREATE INDEX order_invoices_by_number ON order_invoices (substr(invoice_number, 1, 100));
