-- Deletes a row of an entity table. The parameters are its key columns.
delete from {table} where {matches}
