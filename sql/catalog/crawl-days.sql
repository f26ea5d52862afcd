-- Days of the crawler.

-- name: of_property
-- The stored days of the crawler on a project's property, in order. $project, $property.
-- rows: day text, counts text
select day, counts from crawl_days where project_id = $project and property = $property order by day

-- name: put
-- Stores a day of the crawler, or replaces what was told of it before. $project, $property, $day; $counts: JSON.
insert into crawl_days (project_id, property, day, counts) values ($project, $property, $day, $counts)
on conflict (project_id, property, day) do update set counts = excluded.counts

-- name: forget_before
-- Forgets the days of the crawler before a day. $project, $before.
delete from crawl_days where project_id = $project and day < $before
