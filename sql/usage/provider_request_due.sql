-- When the rate limits allow one more request, in milliseconds, after now. $owner: its provider and property; $perMinute:
-- max in any 60 seconds, in total; $perSecond: max in any second, of the owner; $at: now.
select case when due > $at then due else $at + 1 end as due from (
  select coalesce(max(due), 0) as due from (
    select (select at from provider_requests order by at desc limit 1 offset $perMinute - 1) + 60000 as due
    union all
    select (select at from provider_requests where owner = $owner order by at desc limit 1 offset $perSecond - 1) + 1000
  ) as limits
) as latest
