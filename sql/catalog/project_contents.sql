-- How many rows belong to a project and are deleted with it. $project.
select p.id, p.workspace_id as workspace, p.property,
  (select count(*) from keywords where project_id = p.id) as keywords,
  (select count(*) from groups where project_id = p.id) as groups,
  (select count(*) from group_members where project_id = p.id) as groupMembers,
  (select count(*) from page_groups where project_id = p.id) as pageGroups,
  (select count(*) from alerts where project_id = p.id) as alerts,
  (select count(*) from notes where project_id = p.id) as notes,
  (select count(*) from connections where project_id = p.id) as connections,
  (select count(*) from lists where project_id = p.id) as lists,
  (select count(*) from fact_files where project_id = p.id) as files,
  (select coalesce(sum(bytes), 0) from fact_files where project_id = p.id) as bytes
from projects p where p.id = $project
