-- Events a consumer has taken; recorded in the transaction of what they caused.

CREATE TABLE IF NOT EXISTS t_event_consumed (
    consumer_name VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    event_id      VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    consumed_at   DATETIME(3) NOT NULL DEFAULT (UTC_TIMESTAMP(3)),
    PRIMARY KEY (consumer_name, event_id),
    KEY idx_consumed_at (consumed_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
