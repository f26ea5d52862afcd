-- Some of the pages of a project that the search engine has told of, if they are of its property. $project; $verdict, $other:
-- patterns of the state in lower case, or null, and of one that it is not; $part: of the address; $sort: a column, after -
-- for descending; $limit, $offset.
select url, state, last_crawl_time as "lastCrawlTime", inspected_at as "inspectedAt", since
from inspected_pages
where project_id = $project and inspected_at is not null
  and (select i.property = p.property from inspection_projects i join projects p on p.id = i.project_id where p.id = $project)
  and (cast($verdict as text) is null or lower(state) like $verdict escape '\')
  and (cast($other as text) is null or lower(state) not like $other escape '\')
  and (cast($part as text) is null or lower(url) like $part escape '\')
order by
  case $sort when 'since' then since when 'inspectedAt' then inspected_at end,
  case $sort when '-since' then since when '-inspectedAt' then inspected_at end desc,
  case $sort when 'lastCrawlTime' then coalesce(last_crawl_time, '') end,
  case $sort when '-lastCrawlTime' then coalesce(last_crawl_time, '') end desc,
  case $sort when '-url' then url end desc,
  url
limit $limit offset $offset
