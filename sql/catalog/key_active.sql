-- The workspace of a key that is valid. projects: a JSON list of those that it may read, or null for all. $id; $at:
-- microseconds.
select
  workspace_id as workspace,
  case when limited = 1 then
    (select json_group_array(project_id) from key_projects where key_id = $id)
  end as projects
from keys where id = $id and revoked_at is null and (expires_at is null or expires_at > $at)
