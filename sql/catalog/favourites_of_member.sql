-- The projects of a workspace that a member has marked. $workspace, $email.
select f.project_id as project
from favourites f join projects p on p.id = f.project_id
where p.workspace_id = $workspace and f.email = $email
order by f.project_id
