-- The audit trail.

-- name: newest
-- The newest rows of the audit trail. $workspace, $action: null for all; $since: microseconds; $limit.
-- rows: at integer, workspace text, actor text, action text, subject text, details text
select at, workspace_id as workspace, actor, action, subject, details from audit
where at >= $since and (cast($workspace as text) is null or workspace_id = $workspace) and (cast($action as text) is null or action = $action)
order by at desc, id desc limit $limit

-- name: add
-- Adds a row to the audit trail. $at: microseconds; $workspace: or null; $actor, $action; $subject: or null; $details:
-- JSON.
insert into audit (at, workspace_id, actor, action, subject, details)
values ($at, $workspace, $actor, $action, $subject, $details)

-- name: forget
-- Forgets old rows of the audit trail. $before: microseconds.
delete from audit where at < $before
