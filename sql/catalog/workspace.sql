-- One workspace. $id.
select id, name, plan, keyword_history_days as keywordHistoryDays from workspaces where id = $id
