-- What fills the tables for a measurement. Orders are named B000000001, B000000002, ...; their ids
-- are the same numbers. MariaDB's sequence tables (seq_1_to_n) make the rows.

DELIMITER $$

DROP PROCEDURE IF EXISTS bench_fill$$
-- Nothing but count orders, each with as many items, whose deadlines are offset_ms from now on, a
-- microsecond apart.
CREATE PROCEDURE bench_fill(IN count BIGINT, IN items INT, IN offset_ms BIGINT)
BEGIN
    TRUNCATE t_order;
    TRUNCATE t_order_item;
    TRUNCATE t_outbox_event;
    TRUNCATE t_compensation;
    INSERT INTO t_order (order_no, user_id, amount_cents, expire_time)
    SELECT CONCAT('B', LPAD(seq, 9, '0')), seq, 9900,
           UTC_TIMESTAMP(3) + INTERVAL (offset_ms * 1000 + CAST(seq AS SIGNED)) MICROSECOND
      FROM seq_1_to_100000000 WHERE seq <= count;
    INSERT INTO t_order_item (order_id, sku_id, quantity)
    SELECT o.id, CONCAT('SKU-', o.id % 100), 2
      FROM t_order o JOIN seq_1_to_16 i ON i.seq <= items
     ORDER BY o.id, i.seq;
END$$

DROP PROCEDURE IF EXISTS bench_fill_outbox$$
-- The same orders without items, all due remaining_ms after start_ms from now; their outbox rows
-- may be taken from start_ms on, so that the producer is warm when the first can be claimed.
CREATE PROCEDURE bench_fill_outbox(IN count BIGINT, IN start_ms BIGINT, IN remaining_ms BIGINT)
BEGIN
    DECLARE start_time DATETIME(3);
    CALL bench_fill(count, 0, 3600000);
    SET start_time = SYSDATE(3) + INTERVAL start_ms * 1000 MICROSECOND;
    UPDATE t_order SET expire_time = start_time + INTERVAL remaining_ms * 1000 MICROSECOND;
    INSERT INTO t_outbox_event (event_type, order_no, available_at)
    SELECT 'ORDER_CREATED', order_no, start_time FROM t_order;
    SELECT GREATEST(0, TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), start_time)) DIV 1000;
END$$

DROP PROCEDURE IF EXISTS bench_create_orders$$
-- As an order service would: rate orders a second for so many seconds, in transactions of a tenth
-- of a second, with deadlines spread evenly.
CREATE PROCEDURE bench_create_orders(IN rate INT, IN seconds INT, IN timeout_ms BIGINT)
BEGIN
    DECLARE began DATETIME(6) DEFAULT SYSDATE(6);
    DECLARE tick, size BIGINT DEFAULT 0;
    DECLARE first_due DATETIME(6);
    SET size = rate DIV 10;
    WHILE tick < seconds * 10 DO
        SET first_due = began + INTERVAL (tick * 100000 + timeout_ms * 1000) MICROSECOND;
        START TRANSACTION;
        INSERT INTO t_order (order_no, user_id, amount_cents, expire_time)
        SELECT CONCAT('B', LPAD(tick * size + seq, 9, '0')), seq, 9900,
               first_due + INTERVAL (seq * 100000 DIV size) MICROSECOND
          FROM seq_1_to_100000 WHERE seq <= size;
        INSERT INTO t_order_item (order_id, sku_id, quantity)
        SELECT id, 'SKU-1', 1 FROM t_order
         WHERE order_no > CONCAT('B', LPAD(tick * size, 9, '0'))
           AND order_no <= CONCAT('B', LPAD((tick + 1) * size, 9, '0'));
        INSERT INTO t_outbox_event (event_type, order_no)
        SELECT 'ORDER_CREATED', order_no FROM t_order
         WHERE order_no > CONCAT('B', LPAD(tick * size, 9, '0'))
           AND order_no <= CONCAT('B', LPAD((tick + 1) * size, 9, '0'));
        COMMIT;
        SET tick = tick + 1;
        DO SLEEP(GREATEST(0, TIMESTAMPDIFF(MICROSECOND, SYSDATE(6),
                                           began + INTERVAL tick * 100000 MICROSECOND)) / 1e6);
    END WHILE;
END$$

DROP PROCEDURE IF EXISTS bench_lateness$$
-- How late the closes were, in milliseconds: count, p50, p99, most, and how many came by sweep.
CREATE PROCEDURE bench_lateness()
BEGIN
    SELECT COUNT(*),
           MAX(CASE WHEN place = CEILING(total * 0.50) THEN late END),
           MAX(CASE WHEN place = CEILING(total * 0.99) THEN late END),
           MAX(late), SUM(close_source <> 'message')
      FROM (SELECT TIMESTAMPDIFF(MICROSECOND, expire_time, close_time) / 1000 AS late, close_source,
                   ROW_NUMBER() OVER (ORDER BY TIMESTAMPDIFF(MICROSECOND, expire_time, close_time)) AS place,
                   COUNT(*) OVER () AS total
              FROM t_order WHERE status = 'CLOSED') AS closes;
END$$

DROP PROCEDURE IF EXISTS bench_fill_tasks$$
-- Restores of stock, all due.
CREATE PROCEDURE bench_fill_tasks(IN count BIGINT)
BEGIN
    TRUNCATE t_compensation;
    INSERT INTO t_compensation (kind, target, idempotency_key, order_no, payload)
    SELECT 'STOCK_RESTORE', 'stock', CONCAT('restore:B', LPAD(seq, 9, '0'), ':', seq),
           CONCAT('B', LPAD(seq, 9, '0')),
           CONCAT('{"sku_id":"SKU-', seq % 100, '","quantity":2}')
      FROM seq_1_to_100000000 WHERE seq <= count;
END$$

DELIMITER ;
