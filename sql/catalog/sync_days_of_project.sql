-- What was published of each table and day of a project. $project.
select fact_table as "table", day, state, final, cut_off as cutOff, rows, clicks, impressions, digest, compared,
  fetched_at as fetchedAt, attempts, reason, next_try as nextTry
from sync_days where project_id = $project order by fact_table, day
