-- Deletes requests that no limit counts any more, and those with a time in the future (the clock was set back). {now}: by the
-- clock that all processes count by, in milliseconds.
delete from provider_requests where at <= {now} - 60000 or at > {now} + 60000
