-- Deletes requests that no limit counts any more, and those with a time in the future (the clock was set back). $at: now,
-- in milliseconds.
delete from provider_requests where at <= $at - 60000 or at > $at + 60000
