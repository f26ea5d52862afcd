-- The list that a reader's page comes from: that of the sequence with this next offset, else of the latest sequence.
-- $reader, $sequence, $offset; $since: the previous page was served at or after this instant (microseconds). {hash}: as in
-- page_sequence_put.sql.
select list from page_sequences
where reader = $reader and {hash}(sequence) = {hash}($sequence) and sequence = $sequence and at >= $since
order by next_offset = $offset desc, at desc limit 1
