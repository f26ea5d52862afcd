-- A key that several staged tables have. {keys}: columns; {pack}: the same as arguments of struct_pack. $files.
select to_json(struct_pack({pack}))::varchar as row, count(*)::double as files from read_parquet($files)
group by {keys} having count(*) > 1 order by {keys} limit 1
