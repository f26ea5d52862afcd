-- Rows of any entity table, for loads: {table} and its columns come from the declarations of the snapshot.

-- name: all
-- Every row of a table, for the loader.
select {columns} from {table}

-- name: of_id
-- The row of a table with an id, whichever workspace owns it, for the loader. $id.
select {columns} from {table} where id = $id

-- name: of_key
-- The row of a table that belongs to a project, by its id in the project. $project, $id.
select {columns} from {table} where project_id = $project and id = $id

-- name: of_project
-- The rows of a table that belong to a project, for the loader. $project.
select {columns} from {table} where project_id = $project

-- name: of_workspaces
-- The rows of a table that belong to no project, for the loader.
select {columns} from {table} where project_id is null

-- name: put
-- Inserts a row of an entity table, or replaces the row with the same key. A row that equals the stored one is not
-- written and does not count as a change.
insert into {table} ({columns}) values ({values}) on conflict ({key}) do update set {updates} where {differs}

-- name: remove
-- Deletes a row of an entity table. The parameters are its key columns.
delete from {table} where {matches}
