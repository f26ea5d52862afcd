-- The rows of a table that belong to a project, for the loader. $project.
select {columns} from {table} where project_id = $project
