-- One workspace. $id.
select
  id, name, plan, keyword_history_days as keywordHistoryDays, requests_per_minute as requestsPerMinute,
  keep_days as keepDays
from workspaces where id = $id
