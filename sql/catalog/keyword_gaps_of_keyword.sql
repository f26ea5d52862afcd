-- The unknown days of a keyword. $project, $keyword.
select first_day as "from", last_day as "to" from keyword_gaps
where project_id = $project and keyword_id = $keyword
order by first_day
