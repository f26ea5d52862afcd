-- Adds stored days of countries. $files: stored files; $through: the last of them; $replaced: days that are fetched again.
insert into country_rows
select date, country, clicks, impressions, sum_position from read_parquet($files)
where date <= $through::date and date not in (select unnest($replaced)::date)
