-- Connections of projects to providers.

-- name: all
-- Every connection, or those of one workspace. $workspace: a workspace, or null for all.
-- rows: workspace text, project text, property text, kind text, credentials text, grant text, endpoint text,
--   tokenEndpoint text, dataset text, location text, archive text, changedAt integer
select p.workspace_id as workspace, c.project_id as project, p.property, c.kind, c.credentials,
  c.grant_id as "grant", c.endpoint,
  c.token_endpoint as tokenEndpoint, c.dataset, c.location, c.archive, c.changed_at as changedAt
from connections c join projects p on p.id = c.project_id
where cast($workspace as text) is null or p.workspace_id = $workspace
order by p.workspace_id, c.project_id, c.kind

-- name: of_project
-- The connections of a project. $project.
-- rows: kind text, credentials text, grant text, endpoint text, tokenEndpoint text, dataset text, location text,
--   archive text
select kind, credentials, grant_id as "grant", endpoint, token_endpoint as tokenEndpoint, dataset, location, archive
from connections where project_id = $project order by kind

-- name: put
-- Sets a project's connection to one kind of provider, in place of the one that is there. $project; $kind: the kind of
-- provider; $credentials: a file, or null; $grant: of the workspace, or null; $endpoint,
-- $tokenEndpoint: addresses, or null; $dataset, $location: of a warehouse, or null; $archive: what it keeps of queries and
-- pages; $at: microseconds.
insert into connections (
  project_id, kind, credentials, grant_id, endpoint, token_endpoint, dataset, location, archive, changed_at
)
values ($project, $kind, $credentials, $grant, $endpoint, $tokenEndpoint, $dataset, $location, $archive, $at)
on conflict (project_id, kind) do update set credentials = excluded.credentials,
  grant_id = excluded.grant_id, endpoint = excluded.endpoint,
  token_endpoint = excluded.token_endpoint, dataset = excluded.dataset, location = excluded.location,
  archive = excluded.archive, changed_at = excluded.changed_at

-- name: move
-- Connects a project to another grant of an account. $project, $grant; $at: microseconds.
update connections set grant_id = $grant, changed_at = $at
where project_id = $project and kind = 'search-console' and grant_id is not null

-- name: remove
-- Removes a project's connection to one kind of provider. $project, $kind.
delete from connections where project_id = $project and kind = $kind
