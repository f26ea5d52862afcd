-- Channels that hear of alerts and digests.

-- name: all
-- The channels of one workspace, or all, the oldest first; or the one with an id. $workspace, $id: null for all.
-- rows: id text, workspace text, project text, kind text, name text, shown text, address text, events text, types text,
--   minSeverity text, state text, secret text, oldSecret text, oldSecretUntil integer, createdAt integer
select id, workspace_id as workspace, project_id as project, kind, name, shown, address, events, types,
  min_severity as minSeverity, state, secret, old_secret as oldSecret, old_secret_until as oldSecretUntil,
  created_at as createdAt
from channels
where (cast($workspace as text) is null or workspace_id = $workspace) and (cast($id as text) is null or id = $id)
order by created_at, id

-- name: listening
-- The channels that hear of a project. $workspace, $project.
-- rows: id text, events text, types text, minSeverity text
select id, events, types, min_severity as minSeverity
from channels
where workspace_id = $workspace and (project_id is null or project_id = $project) and state = 'on'
order by id

-- name: by_token
-- The channel of an unsubscribe link. $hash.
-- rows: id text
select id from channels where token_hash = $hash

-- name: add
-- Adds a channel. $id, $workspace, $project, $kind, $name, $shown; $address: encrypted; $events, $types: JSON; $minSeverity;
-- $secret: encrypted; $tokenHash; $createdAt: microseconds.
insert into channels (id, workspace_id, project_id, kind, name, shown, address, events, types, min_severity, state, secret,
  token_hash, created_at)
values ($id, $workspace, $project, $kind, $name, $shown, $address, $events, $types, $minSeverity, 'on', $secret,
  $tokenHash, $createdAt)

-- name: change
-- Changes a channel. $id, $name, $events, $types, $minSeverity, $state.
update channels set name = $name, events = $events, types = $types, min_severity = $minSeverity, state = $state
where id = $id

-- name: disable
-- Lets a channel get nothing more. $id.
update channels set state = 'disabled' where id = $id

-- name: rotate
-- Replaces the secret of a channel. $id; $secret, $oldSecret: encrypted; $until: microseconds.
update channels set secret = $secret, old_secret = $oldSecret, old_secret_until = $until where id = $id

-- name: remove
-- Removes a channel with its deliveries. $id.
delete from channels where id = $id
