-- Facts as the snapshot has them, cast, one folder for each part and one for wrong rows. Not one for each project: every
-- open folder takes memory.
-- $target: the folder to write. Without dictionaries: what is read once is not worth making them.
copy (
  select * exclude (wrong), case when wrong then {wrong} else {part} end as part
  from ({rows})
) to $target (format parquet, compression uncompressed, dictionary_size_limit 1, partition_by (part))
