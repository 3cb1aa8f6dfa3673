-- Delivery of alerts, each target by itself.
--
-- repeat_count: how often a firing alert was raised again without a message of its own.  The column
-- targets has one entry for each target from now on, see schema/README.md; entries of before have
-- result and code only and are understood as they are.

SET @change = IF(EXISTS(SELECT 1 FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE()
    AND TABLE_NAME = 't_alert' AND COLUMN_NAME = 'repeat_count'), 'DO 0',
    'ALTER TABLE t_alert ADD COLUMN repeat_count INT UNSIGNED NOT NULL DEFAULT 0 AFTER fired_count');
PREPARE change_table FROM @change;
EXECUTE change_table;
DEALLOCATE PREPARE change_table;
