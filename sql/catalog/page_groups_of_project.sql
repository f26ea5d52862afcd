-- The page groups of a project in order. $project.
select id, name, position, rule, pinned_urls as pinnedUrls
from page_groups where project_id = $project order by position, id
