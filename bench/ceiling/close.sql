-- What the server can close at all: set-based statements inside it, no message, no network, no
-- client. Each procedure is called on two connections at once with batches of 1000; it returns when
-- it began and ended by the server's clock, and how many orders it closed.
-- The three steps behind the choice are those of close_orders.

DELIMITER $$

DROP PROCEDURE IF EXISTS bench_close_chosen$$
-- Closes the orders whose ids stand in bench_winners, which this transaction has locked.
CREATE PROCEDURE bench_close_chosen(IN source VARCHAR(16))
BEGIN
    UPDATE t_order o JOIN bench_winners w ON o.id = w.id
       SET o.status = 'CLOSED', o.close_time = UTC_TIMESTAMP(3), o.close_reason = 'TIMEOUT',
           o.close_source = source, o.version = o.version + 1
     WHERE o.status = 'UNPAID' AND o.expire_time <= UTC_TIMESTAMP(3);
    INSERT INTO t_outbox_event (event_type, order_no, trace_parent)
    SELECT 'ORDER_CLOSED', o.order_no, o.trace_parent
      FROM bench_winners w STRAIGHT_JOIN t_order o ON o.id = w.id;
    INSERT INTO t_compensation (kind, target, idempotency_key, order_no, payload)
    SELECT 'STOCK_RESTORE', 'stock', CONCAT('restore:', o.order_no, ':', i.id), o.order_no,
           CONCAT('{"sku_id":"', i.sku_id, '","quantity":', i.quantity, '}')
      FROM bench_winners w STRAIGHT_JOIN t_order o ON o.id = w.id
           STRAIGHT_JOIN t_order_item i ON i.order_id = o.id
     WHERE i.quantity > 0;
END$$

DROP PROCEDURE IF EXISTS bench_close_due$$
-- Finds its orders itself, oldest first, as a sweep does.
CREATE PROCEDURE bench_close_due(IN batch INT)
BEGIN
    DECLARE began DATETIME(6) DEFAULT SYSDATE(6);
    DECLARE closed, found BIGINT DEFAULT 0;
    SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED;
    CREATE OR REPLACE TEMPORARY TABLE bench_winners (id BIGINT UNSIGNED PRIMARY KEY) ENGINE=MEMORY;
    REPEAT
        START TRANSACTION;
        INSERT INTO bench_winners
        SELECT id FROM t_order FORCE INDEX (idx_status_expire)
         WHERE status = 'UNPAID' AND expire_time <= UTC_TIMESTAMP(3)
         ORDER BY expire_time LIMIT batch FOR UPDATE SKIP LOCKED;
        SET found = ROW_COUNT();
        CALL bench_close_chosen('sweep');
        COMMIT;
        SET closed = closed + found;
        DELETE FROM bench_winners;
    UNTIL found = 0 END REPEAT;
    SELECT UNIX_TIMESTAMP(began), UNIX_TIMESTAMP(SYSDATE(6)), closed;
END$$

DROP PROCEDURE IF EXISTS bench_close_known$$
-- Is told its orders, as by messages: a range of consecutive numbers, the cheapest list there is.
CREATE PROCEDURE bench_close_known(IN batch INT, IN first_id BIGINT, IN end_id BIGINT)
BEGIN
    DECLARE began DATETIME(6) DEFAULT SYSDATE(6);
    DECLARE closed, at_id BIGINT DEFAULT 0;
    SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED;
    CREATE OR REPLACE TEMPORARY TABLE bench_winners (id BIGINT UNSIGNED PRIMARY KEY) ENGINE=MEMORY;
    SET at_id = first_id;
    WHILE at_id < end_id DO
        START TRANSACTION;
        INSERT INTO bench_winners
        SELECT id FROM t_order FORCE INDEX (PRIMARY)
         WHERE id >= at_id AND id < LEAST(at_id + batch, end_id)
           AND status = 'UNPAID' AND expire_time <= UTC_TIMESTAMP(3)
         ORDER BY id FOR UPDATE SKIP LOCKED;
        SET closed = closed + ROW_COUNT();
        CALL bench_close_chosen('message');
        COMMIT;
        DELETE FROM bench_winners;
        SET at_id = at_id + batch;
    END WHILE;
    SELECT UNIX_TIMESTAMP(began), UNIX_TIMESTAMP(SYSDATE(6)), closed;
END$$

DROP PROCEDURE IF EXISTS bench_close_blind$$
-- The same without choosing winners first: not correct when anything else is about (it would write
-- events for orders that were paid meanwhile), but no statement sequence can do less.
CREATE PROCEDURE bench_close_blind(IN batch INT, IN first_id BIGINT, IN end_id BIGINT)
BEGIN
    DECLARE began DATETIME(6) DEFAULT SYSDATE(6);
    DECLARE closed, at_id BIGINT DEFAULT 0;
    SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED;
    SET at_id = first_id;
    WHILE at_id < end_id DO
        START TRANSACTION;
        UPDATE t_order
           SET status = 'CLOSED', close_time = UTC_TIMESTAMP(3), close_reason = 'TIMEOUT',
               close_source = 'message', version = version + 1
         WHERE id >= at_id AND id < LEAST(at_id + batch, end_id)
           AND status = 'UNPAID' AND expire_time <= UTC_TIMESTAMP(3);
        SET closed = closed + ROW_COUNT();
        INSERT INTO t_outbox_event (event_type, order_no, trace_parent)
        SELECT 'ORDER_CLOSED', order_no, trace_parent
          FROM t_order WHERE id >= at_id AND id < LEAST(at_id + batch, end_id);
        INSERT INTO t_compensation (kind, target, idempotency_key, order_no, payload)
        SELECT 'STOCK_RESTORE', 'stock', CONCAT('restore:', o.order_no, ':', i.id), o.order_no,
               CONCAT('{"sku_id":"', i.sku_id, '","quantity":', i.quantity, '}')
          FROM t_order o JOIN t_order_item i ON i.order_id = o.id
         WHERE o.id >= at_id AND o.id < LEAST(at_id + batch, end_id) AND i.quantity > 0;
        COMMIT;
        SET at_id = at_id + batch;
    END WHILE;
    SELECT UNIX_TIMESTAMP(began), UNIX_TIMESTAMP(SYSDATE(6)), closed;
END$$

DELIMITER ;
