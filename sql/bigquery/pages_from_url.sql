-- The pages of a range, best first, from rows counted by page.
-- @from, @to: days; @site: the property; @country: a country, @pair: a query, @device: a device, each '' for
-- all; @max: rows. Positions stay zero-based.
-- The casts are for tables from other tools that store timestamps instead of dates; on a DATE column they cost nothing.
select
  url as text, sum(clicks) as clicks, sum(impressions) as impressions, sum(sum_position) as sum_position
from {url_impression}
where cast(data_date as date) between @from and @to and site_url = @site and lower(search_type) = 'web'
  and (@country = '' or lower(country) = @country)
  and (@pair = '' or query = @pair) and (@device = '' or lower(device) = @device) and coalesce(url, '') <> ''
group by text
order by clicks desc, impressions desc, text
limit @max
