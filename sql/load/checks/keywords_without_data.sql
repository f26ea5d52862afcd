-- Unarchived keywords of the load for which it contains no facts. {facts}: its rows of keyword_daily. $files: their staged
-- Parquet files.
select n.project_id as project, n.id, n.query from new_keywords n
anti join (select distinct project_id, keyword_id from ({facts})) f
  on f.project_id = n.project_id and f.keyword_id = n.id
where not n.archived order by n.project_id, n.query
