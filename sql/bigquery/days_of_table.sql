-- The days that a table has rows of, where there is no log of the export. @site: the property.
select distinct cast(cast(data_date as date) as string) as day from {table} where site_url = @site order by day
