-- As page_sequence_get.sql, with a hash of the query in its index. $reader, $sequence, $offset; $since: microseconds.
select list from page_sequences
where reader = $reader and md5(sequence) = md5($sequence) and sequence = $sequence and at >= $since
order by next_offset = $offset desc, at desc limit 1
