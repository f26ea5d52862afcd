-- How many rows of a staged entity table are right, and how many wrong.
select count(*) filter (where not wrong)::double as rows, count(*) filter (where wrong)::double as wrong from staged_{table}
