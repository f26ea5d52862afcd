-- As page_sequence_put.sql, with a hash of the query in its index. $reader, $sequence, $nextOffset, $file, $list, $at.
insert into page_sequences values ($reader, $sequence, $nextOffset, $file, $list, $at)
on conflict (reader, md5(sequence), next_offset) do update set file = excluded.file, list = excluded.list, at = excluded.at
