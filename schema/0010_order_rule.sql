-- Which timeout rule decided the deadline of an order; NULL: none did, or nobody wrote it down.
--
-- At the end of the table and nullable, so that both servers add it at once, whatever the size of the
-- table (ALGORITHM=INSTANT).  A server that may not do so says so instead of building the table anew;
-- then the column is added by hand, and this finds it there.  No index, docs/adr/0011 tells why.

SET @change = IF(EXISTS(SELECT 1 FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE()
    AND TABLE_NAME = 't_order' AND COLUMN_NAME = 'rule_id'), 'DO 0',
    'ALTER TABLE t_order ADD COLUMN rule_id BIGINT UNSIGNED NULL, ALGORITHM=INSTANT');
PREPARE change_table FROM @change;
EXECUTE change_table;
DEALLOCATE PREPARE change_table;
