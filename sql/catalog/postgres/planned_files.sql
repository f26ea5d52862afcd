-- The files that loads have planned and not settled.
select file, load from planned_files
