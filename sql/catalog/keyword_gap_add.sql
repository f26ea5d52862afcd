-- Adds unknown days of a keyword that exists. $project, $keyword; $from, $to: days.
insert into keyword_gaps (project_id, keyword_id, first_day, last_day)
select project_id, id, cast($from as text), cast($to as text) from keywords where project_id = $project and id = $keyword
