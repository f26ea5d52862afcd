-- Takes the next revision.
update revision set value = value + 1 returning value
