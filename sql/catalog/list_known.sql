-- Is this the file of a list that is stored or was until a while ago? $file.
select 1 as known from lists where file = $file union all select 1 from retired_lists where file = $file
