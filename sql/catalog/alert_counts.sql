-- How many alerts of a project are open and resolved. $project.
select cast(coalesce(sum(case when resolved_at is null then 1 else 0 end), 0) as integer) as "open",
  cast(coalesce(sum(case when resolved_at is null then 0 else 1 end), 0) as integer) as resolved
from all_alerts where project_id = $project
