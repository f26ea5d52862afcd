-- Writes the facts of the snapshot, cast, to one folder per part and one for wrong rows. Not one per project: every open
-- folder takes memory. $target: the folder to write. Dictionaries only of few values, such as devices and days of a month:
-- others do not pay for files that are read three times.
copy (
  select * exclude (wrong), case when wrong then {wrong} else {part} end as part
  from ({rows})
) to $target (format parquet, compression uncompressed, dictionary_size_limit 40, partition_by (part))
