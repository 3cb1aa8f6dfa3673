-- Timeouts of new orders.  A NULL attribute matches any; timeout_seconds NULL or 0 means never.

CREATE TABLE IF NOT EXISTS t_timeout_rule (
    id              BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    tenant          VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
    channel         VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
    activity        VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
    category        VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
    priority        INT NOT NULL DEFAULT 0,
    timeout_seconds INT UNSIGNED NULL,
    valid_from      DATETIME(3) NOT NULL DEFAULT (UTC_TIMESTAMP(3)),
    valid_to        DATETIME(3) NULL,
    created_at      DATETIME(3) NOT NULL DEFAULT (UTC_TIMESTAMP(3)),
    PRIMARY KEY (id),
    KEY idx_valid (valid_from, valid_to)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
