-- The number of projects.
select count(*) as projects from projects
