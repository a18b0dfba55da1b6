-- A backup is put back into files only: here nothing is doubted by a restore.
COMMENT ON COLUMN erp_stock.error_code IS 'espelho''s own: the cause of the state';
