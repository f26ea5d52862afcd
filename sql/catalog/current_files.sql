-- Is this file current, or was it retired so recently that a request may still read it? $file; $before: microseconds.
select 1 as kept where exists (select 1 from fact_files where file = $file)
  or exists (select 1 from retired_files where file = $file and retired_at >= $before)
