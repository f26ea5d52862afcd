-- Stores a day of the crawler, or replaces what was told of it before. $project, $property, $day; $counts: JSON.
insert into crawl_days (project_id, property, day, counts) values ($project, $property, $day, $counts)
on conflict (project_id, property, day) do update set counts = excluded.counts
