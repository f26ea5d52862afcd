-- Sessions of the dashboard, and the one-time links that begin them.

-- name: by_hash
-- A session, if its key is not revoked or its member still one of the workspace.
-- $hash: SHA-256 of its secret, hexadecimal.
-- rows: id text, hash text, keyId text, email text, role text, expiresAt integer, workspaceId text, workspaceName text,
--   plan text, keyExpiresAt integer, projects text, requestsPerMinute integer
select
  s.id,
  s.hash,
  s.key_id as keyId,
  s.email,
  m.role,
  s.expires_at as expiresAt,
  w.id as workspaceId,
  w.name as workspaceName,
  w.plan,
  k.key_expires_at as keyExpiresAt,
  k.projects,
  w.requests_per_minute as requestsPerMinute
from sessions s
join workspaces w on w.id = s.workspace_id
left join key_rights k on k.key_id = s.key_id
left join members m on m.workspace_id = s.workspace_id and m.email = s.email
where s.hash = $hash
  and (s.key_id is null or k.revoked_at is null)
  and (s.email is null or m.role is not null)

-- name: add
-- Stores a new session. $hash: SHA-256 of its secret, hexadecimal; $id; $workspace; $keyId or $email: whose it is, the
-- other null; $at, $expiresAt: microseconds.
insert into sessions (hash, id, workspace_id, key_id, email, created_at, expires_at)
values ($hash, $id, $workspace, $keyId, $email, $at, $expiresAt)

-- name: end
-- Ends a session. $hash: SHA-256 of its secret, hexadecimal.
delete from sessions where hash = $hash

-- name: forget
-- Forgets sessions that have expired. $at: microseconds.
delete from sessions where expires_at <= $at

-- name: end_all
-- Ends all sessions of the dashboard.
delete from sessions

-- name: link
-- A sign-in link that has not been used. $hash: SHA-256 of its secret, hexadecimal.
-- rows: id text, workspaceId text, plan text, keyId text, email text, role text, expiresAt integer, keyExpiresAt integer,
--   projects text, requestsPerMinute integer
select
  l.hash as id,
  l.workspace_id as workspaceId,
  w.plan,
  l.key_id as keyId,
  l.email,
  m.role,
  l.expires_at as expiresAt,
  k.key_expires_at as keyExpiresAt,
  k.projects,
  w.requests_per_minute as requestsPerMinute
from login_links l
join workspaces w on w.id = l.workspace_id
left join key_rights k on k.key_id = l.key_id
left join members m on m.workspace_id = l.workspace_id and m.email = l.email
where l.hash = $hash
  and (l.key_id is null or k.revoked_at is null)
  and (l.email is null or m.role is not null)

-- name: add_link
-- Stores a new sign-in link. $hash: SHA-256 of its secret, hexadecimal; $workspace; $keyId or $email: whom it signs in,
-- the other null; $expiresAt: microseconds.
insert into login_links (hash, workspace_id, key_id, email, expires_at)
values ($hash, $workspace, $keyId, $email, $expiresAt)

-- name: forget_links
-- Forgets a link that is used, and those that have expired. $hash: SHA-256 of its secret, hexadecimal; $at: microseconds.
delete from login_links where hash = $hash or expires_at <= $at

-- name: forget_all_links
-- Forgets all one-time links.
delete from login_links
