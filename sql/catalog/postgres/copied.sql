-- The last statement of a copy: the next row of the audit trail follows the last one.
select setval(pg_get_serial_sequence('audit', 'id'), (select coalesce(max(id), 0) + 1 from audit), false) as done
