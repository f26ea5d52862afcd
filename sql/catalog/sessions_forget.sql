-- Forgets sessions that have expired. $at: microseconds.
delete from sessions where expires_at <= $at
