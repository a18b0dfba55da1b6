-- Since when the mirror has fewer rows than the marketplace counted, although sweeps have looked for them; NULL: it has not.
ALTER TABLE remote_counts ADD COLUMN behind_since TEXT;
