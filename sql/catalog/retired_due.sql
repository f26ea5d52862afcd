-- Retired files that no request can still be reading. $before: microseconds.
select file from retired_files where retired_at < $before and not exists (select 1 from fact_files f where f.file = retired_files.file)
