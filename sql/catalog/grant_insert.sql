-- Adds a grant. $id; $workspace; $kind: the provider of accounts; $clientId: the OAuth client; $connectedBy: an address;
-- $connectedAt, $endsAt: microseconds, the latter or null; $refreshToken: encrypted.
insert into grants (id, workspace_id, kind, client_id, connected_by, connected_at, ends_at, refresh_token)
values ($id, $workspace, $kind, $clientId, $connectedBy, $connectedAt, $endsAt, $refreshToken)
