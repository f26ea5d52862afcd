-- One of a list of allowed values.
create macro if not exists to_choice(x, choices) as case when list_contains(choices, x::varchar) then x::varchar end
