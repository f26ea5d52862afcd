-- Stores a new key: only its hash and first characters. $id, $workspace, $name; $prefix: first characters; $hash:
-- SHA-256, hexadecimal; $at: microseconds; $by: email address of the member who created it, or null; $expiresAt:
-- microseconds, or null; $limited: 1 if it may read some projects only; $scope: `sql`, or null.
insert into keys (id, workspace_id, name, prefix, hash, created_at, created_by, expires_at, limited, scope)
values ($id, $workspace, $name, $prefix, $hash, $at, $by, $expiresAt, $limited, $scope)
