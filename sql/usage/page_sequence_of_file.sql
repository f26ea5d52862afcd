-- Does any sequence read this file? $file; $since: its last page was served at or after this instant (microseconds).
select 1 as found from page_sequences where file = $file and at >= $since
