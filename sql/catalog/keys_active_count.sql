-- How many keys of a workspace are valid? Those that were replaced do not count. $workspace; $at: microseconds.
select count(*) as count from keys
where workspace_id = $workspace and revoked_at is null and replaced_by is null
  and (expires_at is null or expires_at > $at)
