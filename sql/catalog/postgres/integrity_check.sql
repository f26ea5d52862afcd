-- One row 'ok': a server of PostgreSQL checks its own files.
select 'ok' as result
