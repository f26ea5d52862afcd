-- Unarchived keywords of the load for which it contains no facts. {facts}: the keywords of its rows of keyword_daily.
select n.project_id as project, n.id, n.query from new_keywords n
anti join ({facts}) f on f.project_id = n.project_id and f.keyword_id = n.id
where not n.archived order by n.project_id, n.query
