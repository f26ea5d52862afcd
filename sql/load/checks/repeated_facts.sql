-- About how many staged facts repeat a key, told by a hash of it: 0 is certain, for equal keys have equal hashes. $files:
-- staged Parquet files of one table.
select (count(*) - count(distinct hash({key})))::double as repeated from read_parquet($files)
