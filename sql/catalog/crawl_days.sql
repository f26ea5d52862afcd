-- The stored days of the crawler on a project's property, in order. $project, $property.
select day, counts from crawl_days where project_id = $project and property = $property order by day
