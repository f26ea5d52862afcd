-- The newest alerts of the projects of a workspace. $workspace; $status: open or all; $since: microseconds of
-- creation; $limit.
select a.id, a.project_id as project, a.type, a.kind, a.severity, a.title, a.date, a.created_at as createdAt,
  a.resolved_at as resolvedAt
from all_alerts a join projects p on p.id = a.project_id
where p.workspace_id = $workspace and a.created_at >= $since
  and ($status = 'all' or a.resolved_at is null)
order by a.created_at desc, a.id
limit $limit
