-- Days whose hours were not all complete when they were last fetched. `followed`: a later day of the same fetch has rows.
-- `missed`: a later fetch no longer had them. $project; $from, $to: days.
with fetched as (
  select day, state, final, fetched_at from sync_days
  where project_id = $project and fact_table = 'site_hourly' and fetched_at > 0
)
select day,
  case when exists (
    select 1 from fetched later where later.fetched_at = d.fetched_at and later.day > d.day and later.state = 'done'
  ) then 1 else 0 end as followed,
  case when fetched_at < (select max(fetched_at) from fetched) then 1 else 0 end as missed
from fetched d where final = 0 and day between $from and $to
