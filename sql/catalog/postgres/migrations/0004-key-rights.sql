-- What a key allows: its workspace, and its projects as a JSON list, or null for all.
create view key_rights as
select
  k.id as key_id,
  k.hash,
  k.workspace_id,
  k.revoked_at,
  k.expires_at as key_expires_at,
  case when k.limited = 1 then
    (select json_group_array(project_id) from key_projects where key_id = k.id)
  end as projects
from keys k;
