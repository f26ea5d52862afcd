-- Takes a revision that is larger than any before. $least.
update revision set value = max(value + 1, $least) returning value
