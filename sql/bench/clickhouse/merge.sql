-- Merges the table into one part, as in a table that is no longer written to.
optimize table keyword_daily final
