-- Does this file belong to a stored list, or to one that was retired and not removed yet? $file.
select 1 as known from lists where file = $file union all select 1 from retired_lists where file = $file
