-- What was sent to providers.

-- name: take
-- Records a request to a provider, if the rate limits allow it. $owner: its provider and property; $at: now, in
-- milliseconds; $perMinute: max in any 60 seconds, in total; $perSecond: max in any second, of the owner.
insert into provider_requests (owner, at)
select $owner, $at
where (select count(*) from provider_requests where at > $at - 60000) < $perMinute
  and (select count(*) from provider_requests where at > $at - 1000 and owner = $owner) < $perSecond

-- name: take (postgres)
-- As above, one at a time over all processes, and by the clock of the database: those of nodes differ.
-- $owner, $at (only whether it is there), $perMinute, $perSecond.
select from take_provider_request(
  $owner,
  floor(extract(epoch from clock_timestamp()) * 1000)::bigint,
  $perMinute,
  $perSecond
) where cast($at as bigint) is not null

-- name: due
-- When the rate limits allow one more request, in milliseconds, after now. $owner: its provider and property; $perMinute:
-- max in any 60 seconds, in total; $perSecond: max in any second, of the owner; $at: now, by the clock of the process.
-- {now}: by the clock of all processes.
-- rows: due integer
select case when due > now then $at + due - now else $at + 1 end as due
from (
  select {now} as now, coalesce(max(due), 0) as due
  from (
    select (select at from provider_requests order by at desc limit 1 offset $perMinute - 1) + 60000 as due
    union all
    select (select at from provider_requests where owner = $owner order by at desc limit 1 offset $perSecond - 1) + 1000
  ) as limits
) as latest

-- name: forget
-- Deletes requests that no limit counts any more, and those with a time in the future (the clock was set back). {now}: by the
-- clock that all processes count by, in milliseconds.
delete from provider_requests where at <= {now} - 60000 or at > {now} + 60000

-- name: sent_on_day
-- The requests of a day that were sent. $owner: its provider and property; $day.
-- rows: requests integer
select requests from provider_days where owner = $owner and day = $day

-- name: take_of_day
-- Counts a request of a day, if fewer than allowed were sent. $owner: its provider and property; $day; $perDay.
insert into provider_days (owner, day, requests) values ($owner, $day, 1)
on conflict (owner) do update set
  day = excluded.day,
  requests = case when provider_days.day = excluded.day then provider_days.requests + 1 else 1 end
where provider_days.day <> excluded.day or provider_days.requests < $perDay
