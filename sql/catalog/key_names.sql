-- The name and workspace of every key.
select id, name, workspace_id as workspace from keys
