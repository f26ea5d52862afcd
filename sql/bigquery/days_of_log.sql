-- The days that the export has written to a table. @namespace: the table's name in the export log.
select distinct cast(cast(data_date as date) as string) as day
from {export_log} where upper(namespace) = @namespace order by day
