-- Alerts of each project of a workspace that has any: open ones, and those that opened since. $workspace; $since: microseconds.
select a.project_id as project,
  cast(sum(case when a.resolved_at is null then 1 else 0 end) as integer) as "open",
  cast(sum(case when a.created_at >= $since then 1 else 0 end) as integer) as fresh
from all_alerts a join projects p on p.id = a.project_id
where p.workspace_id = $workspace
group by a.project_id
