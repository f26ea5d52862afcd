-- The newest rows of the audit trail. $workspace, $action: null for all; $since: microseconds; $limit.
select at, workspace_id as workspace, actor, action, subject, details from audit
where at >= $since and (cast($workspace as text) is null or workspace_id = $workspace) and (cast($action as text) is null or action = $action)
order by at desc, id desc limit $limit
