-- The newest rows of the audit trail. $workspace, $action: null for all; $since: microseconds; $limit.
select at, workspace_id as workspace, actor, action, subject, details from audit
where at >= $since and ($workspace is null or workspace_id = $workspace) and ($action is null or action = $action)
order by at desc, id desc limit $limit
