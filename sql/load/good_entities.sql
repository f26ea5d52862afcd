-- The rows of a staged table without wrong values.
create temp view new_{table} as select * exclude (wrong, source_row) from staged_{table} where wrong is null
