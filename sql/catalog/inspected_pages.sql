-- The pages of a project that the search engine has told of, by address, if they are of its property. $project.
select url, state, last_crawl_time as "lastCrawlTime", inspected_at as "inspectedAt", since
from inspected_pages where project_id = $project and inspected_at is not null
  and (select i.property = p.property from inspection_projects i join projects p on p.id = i.project_id where p.id = $project)
order by url
