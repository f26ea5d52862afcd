-- How many lists are stored, and their bytes.
select lists, bytes from list_totals
