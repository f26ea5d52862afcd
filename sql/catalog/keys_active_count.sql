-- How many keys of a workspace are not revoked? $workspace.
select count(*) as count from keys where workspace_id = $workspace and revoked_at is null
