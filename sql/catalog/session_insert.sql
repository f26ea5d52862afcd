-- Stores a new session. $hash: SHA-256 of its secret, hexadecimal; $id; $workspace; $keyId or $email: whose it is, the
-- other null; $at, $expiresAt: microseconds.
insert into sessions (hash, id, workspace_id, key_id, email, created_at, expires_at)
values ($hash, $id, $workspace, $keyId, $email, $at, $expiresAt)
