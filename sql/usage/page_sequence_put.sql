-- Stores which list a reader's next page comes from. $reader, $sequence, $nextOffset; $file and $list (JSON); $at:
-- microseconds. {hash}: what the index has of the query, which may be longer than an index of PostgreSQL allows.
insert into page_sequences values ($reader, $sequence, $nextOffset, $file, $list, $at)
on conflict (reader, {hash}(sequence), next_offset) do update set file = excluded.file, list = excluded.list, at = excluded.at
