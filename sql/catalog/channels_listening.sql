-- The channels that hear of a project. $workspace, $project.
select id, events, types, min_severity as minSeverity
from channels
where workspace_id = $workspace and (project_id is null or project_id = $project) and state = 'on'
order by id
