-- The last final day of a table, and the last one that the provider has reported, as far as the sync knows; null if it does
-- not. $project, $table.
select max(case when final = 1 then day end) as final, max(case when state <> 'failed' then day end) as reported
from sync_days where project_id = $project and fact_table = $table
