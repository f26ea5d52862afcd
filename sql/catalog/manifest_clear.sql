-- Forgets which files are current, for a rebuild.
delete from fact_files
