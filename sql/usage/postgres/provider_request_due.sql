-- As provider_request_due.sql: the instants are of the clock of the database, and the answer of that of the process.
-- $owner, $perMinute, $perSecond, $at.
select greatest(
  cast($at as bigint) + 1,
  cast($at as bigint) + coalesce(max(due), 0) - floor(extract(epoch from clock_timestamp()) * 1000)::bigint
) as due
from (
  select (select at from provider_requests order by at desc limit 1 offset $perMinute - 1) + 60000 as due
  union all
  select (select at from provider_requests where owner = $owner order by at desc limit 1 offset $perSecond - 1) + 1000
) as limits
