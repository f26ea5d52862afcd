-- Stores an invitation. $id, $workspace, $email, $role, $hash: SHA-256 of the secret in its link, hexadecimal; $by, $at,
-- $expiresAt.
insert into invitations (id, workspace_id, email, role, token_hash, created_by, created_at, expires_at)
values ($id, $workspace, $email, $role, $hash, $by, $at, $expiresAt)
