-- Forgets the unknown days of a keyword. $project, $keyword.
delete from keyword_gaps where project_id = $project and keyword_id = $keyword
