-- Projects.

-- part: project
-- A project, with what its workspace keeps of keywords.
-- rows: {projects_fields}, factsRevision integer, entitiesRevision integer, trackedKeywords integer,
--   keywordHistoryDays integer
{projects_fields}, projects.facts_revision as factsRevision, projects.entities_revision as entitiesRevision,
  projects.tracked_keywords as trackedKeywords, w.keyword_history_days as keywordHistoryDays
from projects join workspaces w on w.id = projects.workspace_id

-- name: all
-- Every project, finished or not. $workspace: null for all workspaces.
-- rows: {>project}
select {>project}
where projects.workspace_id = coalesce($workspace, projects.workspace_id)
order by projects.workspace_id, projects.created_at, projects.id

-- name: of_workspace
-- The projects of a workspace that have finished setup, oldest first. $workspace.
-- rows: {>project}
select {>project}
where projects.workspace_id = $workspace and projects.setup_finished = 1
order by projects.created_at, projects.id

-- name: by_property
-- The projects of a property in a workspace, oldest first. $workspace, $property.
-- rows: {>project}
select {>project}
where projects.workspace_id = $workspace and projects.property = $property order by projects.created_at, projects.id

-- name: one
-- One project of a workspace that has finished setup. $id, $workspace.
-- rows: {>project}
select {>project}
where projects.id = $id and projects.workspace_id = $workspace and projects.setup_finished = 1

-- name: any
-- One project of any workspace, finished or not. $id.
-- rows: {>project}
select {>project} where projects.id = $id

-- name: exists
-- Is this project id taken? $id.
-- rows: taken integer
select 1 as taken from projects where id = $id

-- name: largest
-- The project with data that has most tracked keywords, but not more than $most.
-- rows: id text, workspace text
select id, workspace_id as workspace from projects
where synced_through is not null and tracked_keywords between 1 and $most
order by tracked_keywords desc, id limit 1

-- name: created
-- All projects; also of a catalog of 0.2.
-- rows: id text, createdAt integer
select id, created_at as createdAt from projects

-- name: count
-- The number of projects.
-- rows: projects integer
select count(*) as projects from projects

-- name: contents
-- How many rows belong to a project and are deleted with it. $project.
-- rows: id text, workspace text, property text, keywords integer, groups integer, groupMembers integer, pageGroups integer,
--   alerts integer, notes integer, connections integer, lists integer, files integer, bytes integer
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
