-- One of a few words.
create temp macro to_choice(x, choices) as case when list_contains(choices, x::varchar) then x::varchar end
