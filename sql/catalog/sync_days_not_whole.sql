-- Days of a table of which the sync knows more than that they have rows. $project, $table; $from, $to: days.
select day, state, cut_off as cutOff from sync_days
where project_id = $project and fact_table = $table and day between $from and $to and (state <> 'done' or cut_off = 1)
