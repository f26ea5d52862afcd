-- The projects whose sums of positions look like averages: nearly all from 1 to 200 whatever the impressions, where a sum
-- grows with them. Told by the slope of one over the other, in logarithms: about 1 for sums, about 0 for averages; where
-- all impressions are alike, by sums that would mean the first place for everything. $files: staged Parquet files.
select project_id as project from (
  select project_id, count(*) as rows, avg((sum_position between 1 and 200)::integer) as plausible_averages,
    stddev_pop(ln(impressions)) as spread, regr_slope(ln(1 + sum_position), ln(impressions)) as slope,
    sum(sum_position) / sum(impressions) as above_first
  from read_parquet($files) where impressions > 1 group by project_id
)
where plausible_averages >= 0.98
  and (rows >= 20 and spread >= 0.5 and slope < 0.35 or rows >= 10 and spread < 0.5 and above_first < 0.1)
order by project_id
