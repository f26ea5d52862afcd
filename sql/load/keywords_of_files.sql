-- The keywords with facts in stored files. $files: of keyword_daily or its running totals.
select distinct keyword_id as id from read_parquet($files)
