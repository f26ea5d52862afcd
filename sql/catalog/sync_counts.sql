-- Connected projects by what their last sync said. `stale`: the last success, or else the creation, is before $before;
-- `failing`: the last run failed; `due`: the next run is due at $now.
select p.sync_status as status, count(*) as projects,
  sum(coalesce(s.last_success_at, p.created_at) < $before) as stale, sum(coalesce(s.failures, 0) > 0) as failing,
  sum(s.next_run_at is null or s.next_run_at <= $now) as due
from projects p join connections c on c.project_id = p.id and c.kind = 'search-console'
left join sync_projects s on s.project_id = p.id group by p.sync_status
