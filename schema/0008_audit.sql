-- Who did what by hand, written in the transaction of the act.

CREATE TABLE IF NOT EXISTS t_operator_audit (
    id          BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    at          DATETIME(3) NOT NULL DEFAULT (UTC_TIMESTAMP(3)),
    actor       VARCHAR(128) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    role        ENUM('viewer','operator','admin') CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    auth        ENUM('basic','token','proxy','cli') CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    ip          VARCHAR(45) CHARACTER SET ascii COLLATE ascii_bin NULL,
    request_id  VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    action      VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    target_type VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    target_id   VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    bulk_id     VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NULL,
    reason_code VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NULL,
    reason_text VARCHAR(500) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
    before_json JSON NULL,
    after_json  JSON NULL,
    result      ENUM('ok','refused','conflict','error') CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    error       VARCHAR(512) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
    PRIMARY KEY (id),
    UNIQUE KEY uk_request (request_id, action, target_type, target_id),
    KEY idx_target (target_type, target_id),
    KEY idx_at (at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
