-- One workspace. $id.
select id, name, plan, keyword_history_days as keywordHistoryDays,
  keep_days as keepDays from workspaces where id = $id
