-- The row of a table with an id, whichever workspace owns it, for the loader. $id.
select {columns} from {table} where id = $id
