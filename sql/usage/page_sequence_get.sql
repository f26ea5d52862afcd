-- The list that a reader's page comes from: of the sequence that stands exactly there, else of the latest one. $reader,
-- $sequence, $offset; $since: the page before was answered at or after this instant (microseconds).
select list from page_sequences where reader = $reader and sequence = $sequence and at >= $since
order by next_offset = $offset desc, at desc limit 1
