-- A key that several staged tables have. {keys}: columns. $files.
select to_json(row({keys}))::varchar as row, count(*)::double as files from read_parquet($files)
group by {keys} having count(*) > 1 order by {keys} limit 1
