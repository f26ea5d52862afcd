-- How many notes of a workspace and its projects were written since. $workspace; $since: microseconds.
select cast(count(*) as integer) as notes from notes where workspace_id = $workspace and created_at >= $since
