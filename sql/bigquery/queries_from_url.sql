-- The queries of a range, best first, for exports with rows counted by page only, without anonymised queries.
-- @from, @to: days; @site: the property; @country: a country, @pair: a page, @device: a device, each '' for
-- all; @max: rows. Positions stay zero-based.
select
  query as text, sum(clicks) as clicks, sum(impressions) as impressions, sum(sum_position) as sum_position
from {url_impression}
where cast(data_date as date) between @from and @to and site_url = @site and lower(search_type) = 'web'
  and (@country = '' or lower(country) = @country)
  and (@pair = '' or url = @pair) and (@device = '' or lower(device) = @device)
  and coalesce(query, '') <> '' and not coalesce(is_anonymized_query, false)
group by text
order by clicks desc, impressions desc, text
limit @max
