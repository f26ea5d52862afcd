-- Connected projects with pages whose inspections are due, those never inspected first. $now: microseconds; $limit.
select p.id from projects p
join connections c on c.project_id = p.id and c.kind = 'search-console'
left join inspection_projects i on i.project_id = p.id and i.property = p.property
where p.synced_through is not null and (i.due_at is null or i.due_at <= $now)
order by i.due_at nulls first, p.id limit $limit
