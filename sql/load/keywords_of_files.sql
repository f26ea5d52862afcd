-- The keywords that stored files have facts of. $files: of keyword_daily or its running totals.
select distinct keyword_id as id from read_parquet($files)
