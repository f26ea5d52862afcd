-- The workspace of an active key. $id.
select workspace_id as workspace from keys where id = $id and revoked_at is null
