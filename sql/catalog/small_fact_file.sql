-- Any one of the current fact files.
select file from fact_files limit 1
