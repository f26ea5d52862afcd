-- The workspace and the projects of a key that is valid. $id; $at: microseconds.
select workspace_id as workspace, projects
from key_rights
where key_id = $id and revoked_at is null and (key_expires_at is null or key_expires_at > $at)
