-- As provider_requests_forget.sql, by the clock of the database. $at: only whether it is there.
delete from provider_requests
where cast($at as bigint) is not null
  and (at <= floor(extract(epoch from clock_timestamp()) * 1000) - 60000
    or at > floor(extract(epoch from clock_timestamp()) * 1000) + 60000)
