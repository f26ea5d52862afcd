-- All workspaces, with the number of their projects.
select
  w.id, w.name, w.plan, w.keyword_history_days as keywordHistoryDays, w.requests_per_minute as requestsPerMinute,
  w.keep_days as keepDays, count(p.id) as projects
from workspaces w left join projects p on p.workspace_id = w.id group by w.id order by w.id
