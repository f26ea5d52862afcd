-- A table for the rows of an entity table that are exported. {columns}: with types.
create or replace temp table exported_rows ({columns})
