-- The bytes of all files of lists that are stored no more.
select coalesce(sum(bytes), 0) as bytes from retired_lists
