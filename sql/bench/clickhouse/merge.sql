-- One part, as a table has that has come to rest.
optimize table keyword_daily final
