-- Does the engine answer?
select 1 as answer
