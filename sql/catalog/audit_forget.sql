-- Forgets old rows of the audit trail. $before: microseconds.
delete from audit where at < $before
