-- Forgets what a load has planned. $load: its id.
delete from planned_files where load = $load
