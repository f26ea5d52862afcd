-- Marks a grant that the provider has refused, once. $id; $at: microseconds.
update grants set lost_at = $at where id = $id and lost_at is null
