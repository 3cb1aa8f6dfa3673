-- One row per trade of a payment channel, whatever came of it.

CREATE TABLE IF NOT EXISTS t_payment (
    id           BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    channel      VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    trade_no     VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    order_no     VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    amount_cents BIGINT NOT NULL,
    currency     CHAR(3) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    outcome      ENUM('APPLIED','LATE','DUPLICATE','MISMATCH','UNKNOWN_ORDER') CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    refund_state ENUM('NONE','PENDING','DONE','FAILED') CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'NONE',
    created_at   DATETIME(3) NOT NULL DEFAULT (UTC_TIMESTAMP(3)),
    updated_at   DATETIME(3) NOT NULL DEFAULT (UTC_TIMESTAMP(3)),
    PRIMARY KEY (id),
    UNIQUE KEY uk_channel_trade (channel, trade_no),
    KEY idx_order_no (order_no),
    KEY idx_refund_state (refund_state, outcome),
    CONSTRAINT ck_payment_channel CHECK (channel <> '' AND channel NOT REGEXP '[^A-Za-z0-9._:-]'),
    CONSTRAINT ck_payment_trade_no CHECK (trade_no <> '' AND trade_no NOT REGEXP '[^A-Za-z0-9._:-]'),
    CONSTRAINT ck_payment_order_no CHECK (order_no <> '' AND order_no NOT REGEXP '[^A-Za-z0-9._:-]')
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
