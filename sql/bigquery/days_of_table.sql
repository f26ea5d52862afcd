-- The days that have rows in a table, for exports without a log. @site: the property.
select distinct cast(cast(data_date as date) as string) as day from {table} where site_url = @site order by day
