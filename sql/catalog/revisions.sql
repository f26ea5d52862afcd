-- Revisions of projects, by which caches and copies know what has changed, and the last publication.

-- name: last
-- The last revision of any project.
-- rows: value integer
select value from revision

-- name: next
-- Takes the next revision.
-- rows: value integer
update revision set value = value + 1 returning value

-- name: set
-- Takes a revision larger than any before. $least: the smallest that it may be.
-- rows: value integer
update revision set value = case when value + 1 > $least then value + 1 else $least end returning value

-- name: raise_projects
-- Marks all projects as changed, and stores how many unarchived keywords each has. $revision.
update projects set facts_revision = $revision, entities_revision = $revision, files_since = $revision,
  tracked_keywords = (select count(*) from keywords k where k.project_id = projects.id and k.archived = 0)

-- name: raise_files
-- All files are those of a revision. $revision.
update fact_files set revision = $revision

-- name: change_facts
-- Marks the facts of a project as changed: cached results of older facts are no longer used.
-- $id; the revision is the one that this transaction has taken.
update projects set facts_revision = (select value from revision),
  files_since = case files_since when 0 then (select value from revision) else files_since end where id = $id

-- name: change_files
-- The files of a project that became current in this transaction are those of a revision.
-- $id; the revision is the one that this transaction has taken.
update fact_files set revision = (select value from revision) where project_id = $id and revision = 0

-- name: change_removed_parts
-- The parts of a project that lost their file in this transaction did so with a revision.
-- $id; the revision is the one that this transaction has taken.
update removed_parts set revision = (select value from revision) where project_id = $id and revision = 0

-- name: change_entities
-- Marks a project, its keywords or groups as changed. Marks the facts of a new project as changed too: a deleted
-- project may have had the same id. $id; the revision is the one that this transaction has taken.
update projects set entities_revision = (select value from revision),
  facts_revision = case entities_revision when 0 then (select value from revision) else facts_revision end
where id = $id

-- name: change_entities_of_workspace
-- Marks all projects of a workspace as changed, because they depend on its settings.
-- $id; the revision is the one that this transaction has taken.
update projects set entities_revision = (select value from revision) where workspace_id = $id

-- name: change_entities_of_reported
-- Marks the projects that have reported a day after one as changed; all projects if $after is null. The revision is the one that
-- this transaction has taken.
update projects set entities_revision = (select value from revision)
where cast($after as text) is null or synced_through > $after

-- name: any_reported
-- Whether a project has reported a day after one; any project if $after is null.
-- rows: found integer
select 1 as found from projects where cast($after as text) is null or synced_through > $after limit 1

-- name: files_since
-- The revision from which on all changes of a project's files are known; 0 where none is. $project.
-- rows: since integer
select files_since as since from projects where id = $project

-- name: publication
-- How far the catalog has come: its last publication, and how many transactions have changed it.
-- rows: number integer, id text, changes integer
select number, id, changes from publication

-- name: count_change
-- Counts a transaction that changes the catalog.
-- rows: changes integer
update publication set changes = changes + 1 returning changes

-- name: raise_changes
-- Lets a catalog that was put into a folder be newer than what is beside the facts. $least.
update publication set changes = case when changes > $least then changes else $least end

-- name: next_publication
-- Begins the next publication. $id.
-- rows: number integer, id text
update publication set number = number + 1, id = $id returning number, id

-- name: set_publication
-- Sets the last publication, for a rebuilt catalog. $number, $id.
update publication set number = $number, id = $id

-- name: count_keywords
-- Stores how many unarchived keywords a project has. $id.
update projects set tracked_keywords = (select count(*) from keywords where project_id = $id and archived = 0)
where id = $id

-- name: edits
-- The number of edits of each project and of each workspace that has some.
-- rows: owner text, id text, count integer
select owner, id, count from edits

-- name: count_edit
-- Counts an edit. $owner: `project` or `workspace`; $id.
insert into edits (owner, id, count) values ($owner, $id, 1)
on conflict (owner, id) do update set count = edits.count + 1
