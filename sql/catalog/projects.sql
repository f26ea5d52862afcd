-- Projects.

-- name: all
-- Every project, finished or not. $workspace: null for all workspaces.
select p.*, w.keyword_history_days
from projects p join workspaces w on w.id = p.workspace_id
where p.workspace_id = coalesce($workspace, p.workspace_id)
order by p.workspace_id, p.created_at, p.id

-- name: of_workspace
-- The projects of a workspace that have finished setup, oldest first. $workspace.
select p.*, w.keyword_history_days
from projects p join workspaces w on w.id = p.workspace_id
where p.workspace_id = $workspace and p.setup_finished = 1
order by p.created_at, p.id

-- name: by_property
-- The projects of a property in a workspace, oldest first. $workspace, $property.
select p.*, w.keyword_history_days
from projects p join workspaces w on w.id = p.workspace_id
where p.workspace_id = $workspace and p.property = $property order by p.created_at, p.id

-- name: one
-- One project of a workspace that has finished setup. $id, $workspace.
select p.*, w.keyword_history_days
from projects p join workspaces w on w.id = p.workspace_id
where p.id = $id and p.workspace_id = $workspace and p.setup_finished = 1

-- name: any
-- One project of any workspace, finished or not. $id.
select p.*, w.keyword_history_days
from projects p join workspaces w on w.id = p.workspace_id where p.id = $id

-- name: exists
-- Is this project id taken? $id.
select 1 as taken from projects where id = $id

-- name: largest
-- The project with data that has most tracked keywords, but not more than $most.
select id, workspace_id as workspace from projects
where synced_through is not null and tracked_keywords between 1 and $most
order by tracked_keywords desc, id limit 1

-- name: count
-- The number of projects.
select count(*) as projects from projects

-- name: contents
-- How many rows belong to a project and are deleted with it. $project.
select p.id, p.workspace_id as workspace, p.property,
  (select count(*) from keywords where project_id = p.id) as keywords,
  (select count(*) from groups where project_id = p.id) as groups,
  (select count(*) from group_members where project_id = p.id) as groupMembers,
  (select count(*) from page_groups where project_id = p.id) as pageGroups,
  (select count(*) from all_alerts where project_id = p.id) as alerts,
  (select count(*) from notes where project_id = p.id) as notes,
  (select count(*) from connections where project_id = p.id) as connections,
  (select count(*) from lists where project_id = p.id) as lists,
  (select count(*) from fact_files where project_id = p.id) as files,
  (select coalesce(sum(bytes), 0) from fact_files where project_id = p.id) as bytes
from projects p where p.id = $project

-- name: remove
-- Deletes a project and everything that belongs to it; its files are retired. $project.
delete from projects where id = $project
