-- The pages of a range, best first, from the rows that are counted by page.
-- @from, @to: days; @site: the property; @country: a country, or '' for all; @max: rows. Positions stay zero-based.
-- The casts serve tables that other tools made with instants for days; on a column of days they are nothing.
select
  url as text, sum(clicks) as clicks, sum(impressions) as impressions, sum(sum_position) as sum_position
from {url_impression}
where cast(data_date as date) between @from and @to and site_url = @site and lower(search_type) = 'web'
  and (@country = '' or lower(country) = @country) and coalesce(url, '') <> ''
group by text
order by clicks desc, impressions desc, text
limit @max
