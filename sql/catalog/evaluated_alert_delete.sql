-- Removes an evaluated alert. $id.
delete from evaluated_alerts where id = $id
