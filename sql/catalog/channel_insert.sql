-- Adds a channel. $id, $workspace, $project, $kind, $name, $shown; $address: encrypted; $events, $types: JSON; $minSeverity;
-- $secret: encrypted; $tokenHash; $createdAt: microseconds.
insert into channels (id, workspace_id, project_id, kind, name, shown, address, events, types, min_severity, state, secret,
  token_hash, created_at)
values ($id, $workspace, $project, $kind, $name, $shown, $address, $events, $types, $minSeverity, 'on', $secret,
  $tokenHash, $createdAt)
