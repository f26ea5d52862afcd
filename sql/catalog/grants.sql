-- Grants of accounts and stored keys of providers, with encrypted tokens.

-- part: grant
-- A grant.
-- rows: id text, workspace text, kind text, clientId text, connectedBy text, connectedAt integer, endsAt integer,
--   lostAt integer, refreshToken text
id, workspace_id as workspace, kind, client_id as clientId, connected_by as connectedBy,
  connected_at as connectedAt, ends_at as endsAt, lost_at as lostAt, refresh_token as refreshToken
from grants

-- name: all
-- The grants of one workspace, or all, the oldest first. $workspace: a workspace, or null for all.
-- rows: {>grant}
select {>grant}
where cast($workspace as text) is null or workspace_id = $workspace
order by connected_at, id

-- name: one
-- A grant. $id.
-- rows: {>grant}
select {>grant}
where id = $id

-- name: projects
-- The projects of a workspace that read through a grant, with it. $workspace.
-- rows: grant text, project text, property text
select c.grant_id as "grant", c.project_id as project, p.property
from projects p join connections c on c.project_id = p.id
where p.workspace_id = $workspace and c.grant_id is not null
order by p.created_at, p.id

-- name: add
-- Adds a grant. $id; $workspace; $kind: the provider of accounts; $clientId: the OAuth client; $connectedBy: an address;
-- $connectedAt, $endsAt: microseconds, the latter or null; $refreshToken: encrypted.
insert into grants (id, workspace_id, kind, client_id, connected_by, connected_at, ends_at, refresh_token)
values ($id, $workspace, $kind, $clientId, $connectedBy, $connectedAt, $endsAt, $refreshToken)

-- name: lose
-- Marks a grant that the provider has refused, once. $id; $at: microseconds.
update grants set lost_at = $at where id = $id and lost_at is null

-- name: remove
-- Deletes a grant, and with it the connections of its projects. $id.
delete from grants where id = $id

-- name: remove_unused
-- Deletes stored API keys that no connection uses any more. Grants of accounts stay: their owners revoke them.
delete from grants
where kind = 'bing' and not exists (select 1 from connections c where c.grant_id = grants.id)

-- name: sealed
-- The encrypted values of a column. {table}, {column}; {row}: the column that identifies a row.
select {row} as id, {column} as sealed from {table} where {column} is not null order by {row}

-- name: set_sealed
-- Encrypts a value again. {table}, {column}; {row}: the column that identifies a row; $id: its value; $sealed.
update {table} set {column} = $sealed where {row} = $id
