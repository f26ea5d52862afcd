-- Notes at which age a day was compared. $project, $day, $compared.
update sync_days set compared = $compared where project_id = $project and day = $day
