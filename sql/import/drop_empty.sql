-- Removes rows of days without data: the search engine knows nothing of them, which is not zero.
delete from typed_rows where date is not null and not has_data
