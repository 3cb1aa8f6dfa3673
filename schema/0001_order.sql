-- ROW_FORMAT=REDUNDANT of t_order is on purpose: it keeps room for the close columns while they are NULL,
-- so that a close changes the row in place and splits no page (docs/adr, "lean rows").
--
-- The order row is the only truth.  Columns, types and the two indexes are part of the contract with
-- order services that insert here themselves; schema/README.md says who writes and reads what.

CREATE TABLE IF NOT EXISTS t_order (
    id           BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    order_no     VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    user_id      BIGINT UNSIGNED NOT NULL DEFAULT 0,
    amount_cents BIGINT NOT NULL,
    currency     CHAR(3) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'CNY',
    status       ENUM('UNPAID','PAID','CLOSED') CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'UNPAID',
    expire_time  DATETIME(3) NULL,
    trace_parent VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NULL,
    pay_time     DATETIME(3) NULL,
    close_time   DATETIME(3) NULL,
    close_reason ENUM('TIMEOUT','USER_CANCEL','OPERATOR') CHARACTER SET ascii COLLATE ascii_bin NULL,
    close_source ENUM('message','sweep','api','console') CHARACTER SET ascii COLLATE ascii_bin NULL,
    created_at   DATETIME(3) NOT NULL DEFAULT (UTC_TIMESTAMP(3)),
    version      INT UNSIGNED NOT NULL DEFAULT 0,
    PRIMARY KEY (id),
    UNIQUE KEY uk_order_no (order_no),
    KEY idx_status_expire (status, expire_time),
    KEY idx_close_time (close_time),
    CONSTRAINT ck_order_no CHECK (order_no <> '' AND order_no NOT REGEXP '[^A-Za-z0-9._:-]')
) ENGINE=InnoDB ROW_FORMAT=REDUNDANT DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- The items of one order lie side by side, because a close reads them all.
CREATE TABLE IF NOT EXISTS t_order_item (
    id       BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    order_id BIGINT UNSIGNED NOT NULL,
    sku_id   VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    quantity INT UNSIGNED NOT NULL,
    PRIMARY KEY (order_id, id),
    UNIQUE KEY uk_item_id (id),
    CONSTRAINT ck_item_sku_id CHECK (sku_id <> '' AND sku_id NOT REGEXP '[^A-Za-z0-9._:-]')
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- The state machine: UNPAID to PAID, UNPAID to CLOSED, nothing else.
DROP TRIGGER IF EXISTS trg_order_state;

DELIMITER $$
CREATE TRIGGER trg_order_state BEFORE UPDATE ON t_order FOR EACH ROW
BEGIN
    IF NEW.status <> OLD.status AND OLD.status <> 'UNPAID' THEN
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'lapse: PAID and CLOSED orders never change their state';
    END IF;
END$$
DELIMITER ;
