-- Moves the feeds of a key to another. $from, $to.
update feeds set key_id = $to where key_id = $from
