-- All files are those of a revision. $revision.
update fact_files set revision = $revision
