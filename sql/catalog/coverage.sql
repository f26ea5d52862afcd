-- First and last stored day of each fact table of a project. $project.
select fact_table as "table", min(first_day) as firstDay, max(last_day) as lastDay, sum(rows) as rows
from fact_files where project_id = $project group by fact_table order by fact_table
