-- The groups of a project in rank-tracker order. $project.
select id, name, kind, parent_id as parentId, position, pinned, rule
from groups where project_id = $project order by position, id
