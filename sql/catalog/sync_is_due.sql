-- Whether the next run of a connected project is due, as sync_due.sql. $project; $now: microseconds.
select 1 as due from projects p
join connections c on c.project_id = p.id and c.kind = 'search-console'
left join sync_projects s on s.project_id = p.id
where p.id = $project and (s.next_run_at is null or s.next_run_at <= $now)
