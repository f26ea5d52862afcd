-- Notes that a list was read. $file; $hits: how often since it was last noted; $at: microseconds.
update lists set used_at = max(used_at, $at), hits = hits + $hits where file = $file
