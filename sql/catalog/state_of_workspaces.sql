-- The rows of a table that belong to no project, for the loader.
select {columns} from {table} where project_id is null
