-- Sets the last day that facts can be about, for this session. {day}.
set variable last_fact_day = date '{day}'
