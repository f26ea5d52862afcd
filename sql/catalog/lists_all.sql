-- Every stored list, or those of one project, the newest first. $project: a project, or null for all.
select file, project_id as project, kind, first_day as "from", last_day as "to", nullif(country, '') as country,
  case when selection = '' then null when kind = 'queries' then 'one page' else 'one query' end as part, source, rows, truncated, capped, final, bytes, fetched_at as fetchedAt
from lists where cast($project as text) is null or project_id = $project order by fetched_at desc, file
