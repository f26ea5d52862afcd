-- Notes that a key was used. $id; $at: microseconds.
update keys set last_used_at = $at where id = $id and coalesce(last_used_at, 0) < $at
