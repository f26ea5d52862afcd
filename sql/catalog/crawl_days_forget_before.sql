-- Forgets the days of the crawler before a day. $project, $before.
delete from crawl_days where project_id = $project and day < $before
