-- Deletes sequences that have ended. $before: their last page was served before this instant (microseconds).
delete from page_sequences where at < $before
