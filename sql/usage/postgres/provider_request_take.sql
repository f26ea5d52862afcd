-- As provider_request_take.sql, one at a time over all processes. $owner, $at, $perMinute, $perSecond.
select from take_provider_request($owner, $at, $perMinute, $perSecond)
