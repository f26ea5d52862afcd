-- Connected projects by what their last sync said. `stale`: the last success, or else the creation, is before $before;
-- `failing`: the last run failed; `due`: the next run is due at $now.
select p.sync_status as status, count(*) as projects,
  count(*) filter (where coalesce(s.last_success_at, p.created_at) < $before) as stale,
  count(*) filter (where coalesce(s.failures, 0) > 0) as failing,
  count(*) filter (where s.next_run_at is null or s.next_run_at <= $now) as due
from projects p join connections c on c.project_id = p.id and c.kind = 'search-console'
left join sync_projects s on s.project_id = p.id group by p.sync_status
