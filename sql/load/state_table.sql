-- Creates an empty table for the rows of the catalog.
create temp table {name} ({columns})
