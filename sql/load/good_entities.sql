-- The rows of a staged table that are as they should be.
create temp view new_{table} as select * exclude (wrong) from staged_{table} where not wrong
