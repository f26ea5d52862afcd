-- The saved views of a project by name. $project; $id: null for all.
select id, project_id as project, name, address, author, created_at as createdAt
from saved_views
where project_id = $project and (cast($id as text) is null or id = $id)
order by name, id
