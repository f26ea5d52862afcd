-- The rows of a staged table that are as they should be.
create temp view new_{table} as select * exclude (wrong, source_row) from staged_{table} where wrong is null
