-- Forms that were submitted, so that one is not submitted twice.

-- name: one
-- What a form has created. $hash.
-- rows: request text, result text
select request, result from submissions where hash = $hash

-- name: add
-- Stores what a form has created. $hash, $workspace, $request, $result; $at: microseconds.
insert into submissions (hash, workspace_id, request, result, created_at)
values ($hash, $workspace, $request, $result, $at)

-- name: forget
-- Forgets forms that were submitted before an instant. $before: microseconds.
delete from submissions where created_at < $before
