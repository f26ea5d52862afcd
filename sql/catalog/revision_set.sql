-- Takes a revision larger than any before. $least: the smallest that it may be.
update revision set value = max(value + 1, $least) returning value
