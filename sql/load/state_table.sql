-- Creates an empty table for the rows of the catalog.
create or replace temp table {name} ({columns})
