-- Deletes requests that no limit counts any more, and those with a time in the future (the clock was set back). $at: now,
-- in milliseconds.
delete from provider_requests where at <= cast($at as bigint) - 60000 or at > cast($at as bigint) + 60000
