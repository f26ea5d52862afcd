-- What a feed, revoked or not, answers, and the workspace of its key. $id.
select f.path, k.workspace_id as workspace from feeds f join keys k on k.id = f.key_id where f.id = $id
