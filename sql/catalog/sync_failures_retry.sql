-- Makes what could not be fetched of a table due. $project, $table; $at: microseconds.
update sync_days set attempts = 0, reason = null, next_try = $at
where project_id = $project and fact_table = $table and next_try is not null
