-- The states of the pages whose state has changed, by address, oldest first, if they are of the property. $project.
select c.url, c.since, c.state, c.second_at as "secondAt", c.clicks, c.watched
from inspection_changes c
join inspected_pages p on p.project_id = c.project_id and p.url = c.url
where c.project_id = $project and p.changes > 0
  and (select i.property = p.property from inspection_projects i join projects p on p.id = i.project_id where p.id = $project)
order by c.url, c.since
