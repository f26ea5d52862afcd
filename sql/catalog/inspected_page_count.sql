-- How many of these pages there are, and the newest inspection of any page. $project, $verdict, $other, $part: as there.
select max(inspected_at) as newest,
  count(case when (cast($verdict as text) is null or lower(state) like $verdict escape '\')
    and (cast($other as text) is null or lower(state) not like $other escape '\')
    and (cast($part as text) is null or lower(url) like $part escape '\') then 1 end) as pages
from inspected_pages
where project_id = $project and inspected_at is not null
  and (select i.property = p.property from inspection_projects i join projects p on p.id = i.project_id where p.id = $project)
