-- The connected projects whose last successful sync is the oldest; a project without one counts since its creation. $limit.
select p.id as project, coalesce(s.last_success_at, p.created_at) as since
from projects p join connections c on c.project_id = p.id and c.kind = 'search-console'
left join sync_projects s on s.project_id = p.id
order by since, p.id limit $limit
