-- Which days of the tables that alerts are made of are whole, as far as the sync knows. $project; $from, $to: days.
select fact_table as "table", day, state <> 'failed' and cut_off = 0 as isComplete from sync_days
where project_id = $project and fact_table in ('site_daily', 'keyword_daily', 'keyword_page_daily', 'page_daily')
  and day between $from and $to
