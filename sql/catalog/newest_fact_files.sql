-- The current fact files of the last publications. $limit.
select file from fact_files order by revision desc, file limit $limit
