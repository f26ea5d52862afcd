-- Takes a revision larger than any before. $least: the smallest that it may be.
update revision set value = case when value + 1 > $least then value + 1 else $least end returning value
