-- Forgets forms that were submitted before an instant. $before: microseconds.
delete from submissions where created_at < $before
