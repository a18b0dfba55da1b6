-- On SQLite the tokens leave the file that the ERP opens; here nothing moves.
COMMENT ON TABLE webhook_secrets IS 'espelho''s own: secrets of webhooks';
