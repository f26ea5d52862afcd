-- For the rate limits, which read the latest requests in total and of one owner.
create index if not exists provider_requests_by_time on provider_requests (at, owner)
