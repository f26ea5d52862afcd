-- Connected projects whose sync somebody has asked for since their last run began; who asked first goes first. $limit.
select p.id from projects p
join connections c on c.project_id = p.id and c.kind = 'search-console'
join sync_projects s on s.project_id = p.id
where s.requested_at > coalesce(s.last_run_at, 0)
order by s.requested_at, p.id limit $limit
