-- The keywords that staged facts are about, and their rows: checks of references read these and not all facts. $files:
-- staged Parquet files of a table with keywords.
create or replace temp table fact_keywords_{table} as
select project_id, keyword_id, count(*)::double as times from read_parquet($files) group by project_id, keyword_id
