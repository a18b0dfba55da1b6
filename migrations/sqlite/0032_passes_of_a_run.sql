-- How the passes of a run ended: 'orders:complete products:whole'. A pass is complete, or whole (it went to the end,
-- and rows of it failed), or cut.
ALTER TABLE sync_runs ADD COLUMN passes TEXT;
UPDATE sync_runs SET passes = 'orders:complete products:complete' WHERE state = 'complete';
UPDATE sync_runs SET passes = 'orders:whole products:cut' WHERE state = 'partial';
