-- Deletes attempts that have ended. $at: microseconds.
delete from connect_attempts where expires_at <= $at
