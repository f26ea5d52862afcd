-- Tracked keywords.

-- name: of_project
-- The keywords of a project that are not archived, in order of their query. $project.
-- rows: id text, query text, source text, trackedSince integer, intent text
select id, query, source, tracked_since as trackedSince, intent
from keywords where project_id = $project and archived = 0 order by query, id

-- name: ids
-- The ids of a project's keywords, archived ones included. $project.
-- rows: id text
select id from keywords where project_id = $project

-- name: one
-- A keyword of a project, also an archived one. $project, $id.
-- rows: id text, query text, archived integer, tags text, targetUrl text
select id, query, archived, tags, target_url as targetUrl from keywords where project_id = $project and id = $id

-- name: archived
-- The archived keywords of a project by their query, the first $limit. $project.
-- rows: id text, query text, trackedSince integer, archived integer, tags text, targetUrl text
select id, query, tracked_since as trackedSince, archived, tags, target_url as targetUrl from keywords
where project_id = $project and archived = 1
order by query, id
limit $limit

-- name: targets
-- The pages that should rank for the keywords of a project that are not archived. $project.
-- rows: id text, url text
select id, target_url as url from keywords where project_id = $project and archived = 0 and target_url is not null
