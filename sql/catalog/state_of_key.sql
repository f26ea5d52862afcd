-- The row of a table that belongs to a project, by its id in the project. $project, $id.
select {columns} from {table} where project_id = $project and id = $id
