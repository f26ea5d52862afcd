-- Facts as the snapshot has them, cast, one folder for each project and part and one for wrong rows.
-- $target: the folder to write.
copy (
  select *, case when wrong is null then project_id || '-' || {part} else 'wrong' end as part
  from ({rows})
) to $target (format parquet, partition_by (part))
