-- Stores what a form has created. $hash, $workspace, $request, $result; $at: microseconds.
insert into submissions (hash, workspace_id, request, result, created_at)
values ($hash, $workspace, $request, $result, $at)
