-- What has to be published, written in the transaction it tells about.
-- ROW_FORMAT=REDUNDANT and the CHAR of lease_token are on purpose, as in t_order: the lease and sent_at have their
-- room while they are NULL, so that claiming and marking change a row in place.

CREATE TABLE IF NOT EXISTS t_outbox_event (
    id           BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    event_id     VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT (UUID()),
    event_type   VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    order_no     VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    payload      JSON NULL,
    trace_parent VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NULL,
    status       ENUM('NEW','SENT','FAILED') CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'NEW',
    attempts     INT UNSIGNED NOT NULL DEFAULT 0,
    available_at DATETIME(3) NOT NULL DEFAULT (UTC_TIMESTAMP(3)),
    lease_token  CHAR(32) CHARACTER SET ascii COLLATE ascii_bin NULL,
    lease_until  DATETIME(3) NULL,
    last_error   VARCHAR(256) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
    created_at   DATETIME(3) NOT NULL DEFAULT (UTC_TIMESTAMP(3)),
    sent_at      DATETIME(3) NULL,
    PRIMARY KEY (id),
    UNIQUE KEY uk_event_id (event_id),
    KEY idx_status_available (status, available_at),
    KEY idx_order_no (order_no)
) ENGINE=InnoDB ROW_FORMAT=REDUNDANT DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
