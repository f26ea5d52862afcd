-- When the rate limits allow one more request, in milliseconds, after now. $owner: its provider and property; $perMinute:
-- max in any 60 seconds, in total; $perSecond: max in any second, of the owner; $at: now, by the clock of the process.
-- {now}: by the clock of all processes.
select case when due > now then $at + due - now else $at + 1 end as due
from (
  select {now} as now, coalesce(max(due), 0) as due
  from (
    select (select at from provider_requests order by at desc limit 1 offset $perMinute - 1) + 60000 as due
    union all
    select (select at from provider_requests where owner = $owner order by at desc limit 1 offset $perSecond - 1) + 1000
  ) as limits
) as latest
