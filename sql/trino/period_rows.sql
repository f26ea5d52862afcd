-- The rows of a list of a range, as lists/rank_period_pages.sql and others, in no order. {table}; {text}: its column;
-- $projects and $files: the projects and addresses of the files.
select {text} as text, clicks, impressions, sum_position
from {table}
where project_id in ($projects) and "$path" in ($files)
