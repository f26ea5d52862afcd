-- Connected projects whose sitemaps are due, those never read first. $now: microseconds; $limit.
select p.id from projects p
join connections c on c.project_id = p.id and c.kind = 'search-console'
left join sitemaps s on s.project_id = p.id and s.property = p.property
where s.due_at is null or s.due_at <= $now
order by s.due_at nulls first, p.id limit $limit
