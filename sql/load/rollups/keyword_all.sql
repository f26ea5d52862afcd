-- Keywords by day over all devices. Sums of doubles are exact here, because the loader rejects larger ones, and faster
-- than sums of integers. Sorting by one number takes half of the time of sorting by keyword and day, and counting devices here
-- a twentieth of the time of a search for repeated keys. $file: a file of keyword_daily; $checked: whether to fail if keys
-- repeat; $target.
copy (
  select case
      when $checked and count(*) <> bit_count(bit_or(case device when 'desktop' then 1 when 'mobile' then 2 else 4 end))
      then error('repeated keys') else 'all'
    end as device, keyword_id, date, sum(clicks::double)::bigint as clicks, sum(impressions::double)::bigint as impressions,
    sum(sum_position::double)::bigint as sum_position
  from read_parquet($file) group by keyword_id, date
  order by (('0x' || hex(keyword_id))::bigint << 10) + day(date)
) to $target (format parquet, compression zstd, compression_level 1, row_group_size 61440)
