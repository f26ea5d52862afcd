-- As provider_request_take.sql, one at a time over all processes, and by the clock of the database: those of nodes differ.
-- $owner, $at (only whether it is there), $perMinute, $perSecond.
select from take_provider_request(
  $owner,
  floor(extract(epoch from clock_timestamp()) * 1000)::bigint,
  $perMinute,
  $perSecond
) where cast($at as bigint) is not null
