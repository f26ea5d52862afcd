-- Empties the manifest, for a rebuild.
delete from fact_files
