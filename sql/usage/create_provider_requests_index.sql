-- The limits look for the latest requests, in all and of one owner.
create index if not exists provider_requests_by_time on provider_requests (at, owner)
