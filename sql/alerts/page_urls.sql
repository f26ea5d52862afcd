-- The pages that have rows. $files: of page_daily; $from, $to: days.
select distinct url from read_parquet($files) where date between cast($from as date) and cast($to as date)
