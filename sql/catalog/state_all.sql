-- Every row of a table, for the loader.
select {columns} from {table}
