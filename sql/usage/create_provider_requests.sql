-- The requests that all processes sent to providers in the last minute. `owner` is the provider and property of a
-- request; `at` is when it was sent (milliseconds).
create table if not exists provider_requests (
  owner text not null,
  at integer not null
) strict
