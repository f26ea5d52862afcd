-- One of the current fact files, if there are any.
select file from fact_files limit 1
