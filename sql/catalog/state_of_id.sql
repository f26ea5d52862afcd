-- The row of a table that has an id, whoever owns it, for the loader. $id.
select {columns} from {table} where id = $id
