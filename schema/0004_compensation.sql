-- Work owed to other services, written in the transaction that creates the debt.
-- calls counts calls begun; retry_count is what the contract shows: 0 after the first call.
-- next_retry_at: PENDING due then; RUNNING the end of the lease; DONE, DEAD and RESOLVED since then.
-- The target stands inside the index, so that the due tasks of one target are found without reading
-- those of a target that is not called at the moment.

CREATE TABLE IF NOT EXISTS t_compensation (
    id              BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    kind            ENUM('STOCK_RESTORE','REFUND','WEBHOOK') CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    target          VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    idempotency_key VARCHAR(192) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    order_no        VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    payload         JSON NOT NULL,
    status          ENUM('PENDING','RUNNING','DONE','DEAD','RESOLVED') CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'PENDING',
    calls           INT UNSIGNED NOT NULL DEFAULT 0,
    retry_count     INT UNSIGNED NOT NULL DEFAULT 0,
    max_retries     INT UNSIGNED NOT NULL DEFAULT 5,
    next_retry_at   DATETIME(3) NOT NULL DEFAULT (UTC_TIMESTAMP(3)),
    lease_token     VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NULL,
    lease_until     DATETIME(3) NULL,
    last_error      VARCHAR(512) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
    created_at      DATETIME(3) NOT NULL DEFAULT (UTC_TIMESTAMP(3)),
    updated_at      DATETIME(3) NOT NULL DEFAULT (UTC_TIMESTAMP(3)),
    done_at         DATETIME(3) NULL,
    PRIMARY KEY (id),
    UNIQUE KEY uk_idempotency_key (idempotency_key),
    KEY idx_status_next (status, target, next_retry_at),
    KEY idx_order_no (order_no),
    CONSTRAINT ck_compensation_key CHECK (idempotency_key <> '' AND idempotency_key NOT REGEXP '[^A-Za-z0-9._:-]')
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
