-- Facts as the snapshot has them, cast, one folder for each part and one for wrong rows. Not one for each project: every
-- open folder takes memory.
-- $target: the folder to write. Without dictionaries: what is read once is not worth making them.
copy (
  select *, case when wrong is null then {part} else {wrong} end as part
  from ({rows})
) to $target (format parquet, compression uncompressed, dictionary_size_limit 1, partition_by (part))
