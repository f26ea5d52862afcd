-- Connected projects whose next run is due: those that somebody asked for, those that have never run, then those that only need new days, then those
-- whose history is not complete; within each, who has waited longest. $now, $limit.
select p.id from projects p
join connections c on c.project_id = p.id and c.kind = 'search-console'
left join sync_projects s on s.project_id = p.id
where s.next_run_at is null or s.next_run_at <= $now
order by case when s.requested_at > coalesce(s.last_run_at, 0) then 0 else 1 end, s.last_run_at is not null, p.history_backfilling, s.next_run_at nulls first, p.id limit $limit
