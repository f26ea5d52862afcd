-- The rows of a staged table that are not.
create temp view wrong_{table} as select wrong, source_row from staged_{table} where wrong is not null
