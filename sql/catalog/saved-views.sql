-- Saved views of projects.

-- name: of_project
-- The saved views of a project by name. $project; $id: null for all.
-- rows: id text, project text, name text, address text, author text, createdAt integer
select id, project_id as project, name, address, author, created_at as createdAt
from saved_views
where project_id = $project and (cast($id as text) is null or id = $id)
order by name, id

-- name: add
-- Saves a view. $id, $project, $name, $address, $author; $at: microseconds.
insert into saved_views (id, project_id, name, address, author, created_at)
values ($id, $project, $name, $address, $author, $at)

-- name: change
-- Changes a view. $id, $name, $address.
update saved_views set name = $name, address = $address where id = $id

-- name: remove
-- Removes a view. $id.
delete from saved_views where id = $id
