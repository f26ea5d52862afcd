-- Every kept list, or those of one project, the most recently used first. $project: a project, or null for all.
select project_id as project, kind, first_day as "from", last_day as "to", nullif(country, '') as country, source, rows,
  truncated, capped, final, bytes, hits, fetched_at as fetchedAt, used_at as usedAt
from lists where $project is null or project_id = $project order by used_at desc, file
