-- Which list the next page of a reader comes from.

-- name: list
-- The list that a reader's page comes from: that of the sequence with this next offset, else of the latest sequence.
-- $reader, $sequence, $offset; $since: the previous page was served at or after this instant (microseconds). {hash}: what the
-- index has of the sequence, which may be longer than an index of PostgreSQL allows.
-- rows: list text
select list from page_sequences
where reader = $reader and {hash}(sequence) = {hash}($sequence) and sequence = $sequence and at >= $since
order by next_offset = $offset desc, at desc limit 1

-- name: put
-- Stores which list a reader's next page comes from. $reader, $sequence, $nextOffset; $file and $list (JSON); $at:
-- microseconds. {hash}: as above.
insert into page_sequences values ($reader, $sequence, $nextOffset, $file, $list, $at)
on conflict (reader, {hash}(sequence), next_offset) do update set file = excluded.file, list = excluded.list, at = excluded.at

-- name: read_file
-- Does any sequence read this file? $file; $since: its last page was served at or after this instant (microseconds).
-- rows: found integer
select 1 as found from page_sequences where file = $file and at >= $since

-- name: forget
-- Deletes sequences that have ended. $before: their last page was served before this instant (microseconds).
delete from page_sequences where at < $before
