-- The tags of the projects of a workspace. $workspace.
select t.project_id as project, t.tag
from project_tags t join projects p on p.id = t.project_id
where p.workspace_id = $workspace
order by t.tag, t.project_id
