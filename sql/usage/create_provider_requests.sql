-- The requests to providers of the last minute, by all processes. `owner` is what a request is about (a provider and a
-- property); `at` is when it was sent (milliseconds).
create table if not exists provider_requests (
  owner text not null,
  at integer not null
) strict
