-- Stores a new sign-in link. $hash: SHA-256 of its secret, hexadecimal; $workspace; $keyId or $email: whom it signs in,
-- the other null; $expiresAt: microseconds.
insert into login_links (hash, workspace_id, key_id, email, expires_at)
values ($hash, $workspace, $keyId, $email, $expiresAt)
