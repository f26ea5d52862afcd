-- An empty table for what the catalog has.
create temp table {name} ({columns})
