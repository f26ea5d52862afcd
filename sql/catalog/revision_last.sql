-- The last revision of any project.
select value from revision
