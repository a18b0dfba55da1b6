-- Labels that are still being made: no delivery tells when they are ready.
CREATE INDEX shipment_labels_unready ON shipment_labels (store, order_number) WHERE gone_at IS NULL AND NOT is_ready;
