-- Whether a project has reported a day after one; any project if $after is null.
select 1 as found from projects where cast($after as text) is null or synced_through > $after limit 1
