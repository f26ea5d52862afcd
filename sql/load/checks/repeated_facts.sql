-- About how many staged facts repeat a key, by a hash of the key. 0 is certain, because equal keys have equal hashes.
-- $files: staged Parquet files of one table.
select (count(*) - count(distinct hash({key})))::double as repeated from read_parquet($files)
