-- Forgets invitations that have ended. $at: microseconds.
delete from invitations where expires_at <= $at
