-- Forgets old days. $before: a day.
delete from key_days where day < $before
