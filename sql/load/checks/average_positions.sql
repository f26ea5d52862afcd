-- The projects whose sums of positions look like averages: nearly all are from 1 to 200 and do not grow with impressions,
-- as sums do. The test is the slope of log(sum) over log(impressions): about 1 for sums, about 0 for averages. If all
-- impressions are alike, the test is whether the sums would put everything in the first position. $files: staged Parquet
-- files.
select project_id as project from (
  select project_id, count(*) as rows, avg((sum_position between 1 and 200)::integer) as plausible_averages,
    stddev_pop(ln(impressions)) as spread, regr_slope(ln(1 + sum_position), ln(impressions)) as slope,
    sum(sum_position) / sum(impressions) as above_first
  from read_parquet($files) where impressions > 1 group by project_id
)
where plausible_averages >= 0.98
  and (rows >= 20 and spread >= 0.5 and slope < 0.35 or rows >= 10 and spread < 0.5 and above_first < 0.1)
order by project_id
