-- Files that are current, or retired and not removed yet.
select file from fact_files union select file from retired_files
