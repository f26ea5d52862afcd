-- The unknown days of all keywords of all projects.
select project_id as project, keyword_id as keyword, first_day as "from", last_day as "to" from keyword_gaps
order by project_id, keyword_id, first_day
