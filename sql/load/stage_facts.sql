-- Facts as the snapshot has them, cast, one folder for each project and month and one for wrong rows.
-- $target: the folder to write.
copy (
  select *, case when wrong is null then project_id || '-' || (year({day}) * 100 + month({day}))::varchar else 'wrong' end
    as part
  from ({rows})
) to $target (format parquet, partition_by (part))
