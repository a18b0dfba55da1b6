-- An ERP that follows the feed by SQL says a name and a number.
ALTER TABLE consumers ALTER COLUMN updated_at SET DEFAULT now();
