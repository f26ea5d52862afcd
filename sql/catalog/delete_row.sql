-- Removes a row of an entity table. Values by the names of its key.
delete from {table} where {matches}
