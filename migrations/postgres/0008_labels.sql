-- Every file that was fetched for a label. shipment_labels.file says which one is good; the others are void, and kept.
CREATE TABLE label_files (
    store        TEXT NOT NULL,
    -- Where it lies, from the state directory; made of nothing that the marketplace said.
    file         TEXT NOT NULL,
    label_id     TEXT NOT NULL,
    order_number TEXT NOT NULL,
    size         BIGINT NOT NULL,
    sha256       TEXT NOT NULL,
    -- The storage that it came from; its address is a secret and kept nowhere.
    host         TEXT NOT NULL,
    fetched_at   TIMESTAMPTZ NOT NULL,
    -- When the label changed or went, so that this file is good for nothing any more.
    void_at      TIMESTAMPTZ,
    PRIMARY KEY (store, file)
);
CREATE INDEX label_files_by_order ON label_files (store, order_number);
CREATE INDEX label_files_void ON label_files (store, void_at) WHERE void_at IS NOT NULL;

-- No delivery tells that a label is ready: what is being made, and what may be made any day, is looked at again.
CREATE INDEX shipment_labels_in_the_making ON shipment_labels (store, order_number)
    WHERE gone_at IS NULL AND status IN ('pending', 'processing');
CREATE INDEX shipments_before_their_way ON shipments (store, order_number)
    WHERE gone_at IS NULL AND status IN ('pending', 'processing', 'ready_to_ship');
