-- One row per thing that needs a person; the same thing failing again re-opens its row.

CREATE TABLE IF NOT EXISTS t_alert (
    id              BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    kind            ENUM('TASK_DEAD','ORDER_STUCK','OUTBOX_FAILED','THRESHOLD') CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    ref             VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    severity        ENUM('info','warning','critical') CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    labels          JSON NOT NULL,
    annotations     JSON NOT NULL,
    state           ENUM('FIRING','RESOLVED') CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'FIRING',
    fired_at        DATETIME(3) NOT NULL DEFAULT (UTC_TIMESTAMP(3)),
    fired_count     INT UNSIGNED NOT NULL DEFAULT 1,
    resolved_at     DATETIME(3) NULL,
    silenced_until  DATETIME(3) NULL,
    delivery_state  ENUM('PENDING','SENT','FAILED') CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'PENDING',
    attempts        INT UNSIGNED NOT NULL DEFAULT 0,
    next_attempt_at DATETIME(3) NOT NULL DEFAULT (UTC_TIMESTAMP(3)),
    targets         JSON NULL,
    last_error      VARCHAR(512) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
    lease_token     VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NULL,
    lease_until     DATETIME(3) NULL,
    updated_at      DATETIME(3) NOT NULL DEFAULT (UTC_TIMESTAMP(3)),
    PRIMARY KEY (id),
    UNIQUE KEY uk_kind_ref (kind, ref),
    KEY idx_delivery (delivery_state, next_attempt_at),
    KEY idx_state (state, fired_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
