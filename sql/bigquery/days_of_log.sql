-- The days that the export has written a table for. @namespace: the table, as the log names it.
select distinct cast(cast(data_date as date) as string) as day
from {export_log} where upper(namespace) = @namespace order by day
