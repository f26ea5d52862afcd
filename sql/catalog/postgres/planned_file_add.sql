-- Records a file that a load is about to write. $file; $load: the id of the load.
insert into planned_files (file, load) values ($file, $load) on conflict (file) do nothing
