-- Records that a load contained a fact table of a project. $project, $table.
insert or ignore into loaded_tables select id, $table from projects where id = $project
