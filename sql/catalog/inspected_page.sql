-- An inspected page, if it is of the project's property. $project, $url.
select url, state, last_crawl_time as "lastCrawlTime", inspected_at as "inspectedAt", since, first_at as "firstAt", changes,
  repeats, tried_at as "triedAt", failures
from inspected_pages where project_id = $project and url = $url
  and (select i.property = p.property from inspection_projects i join projects p on p.id = i.project_id where p.id = $project)
