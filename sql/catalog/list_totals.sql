-- The number of stored lists, and their bytes.
select lists, bytes from list_totals
