-- An empty table for what the catalog has.
create temp table old_{table} ({columns})
