-- Notes that a list was read. $file; $at: microseconds.
update lists set used_at = $at where file = $file
