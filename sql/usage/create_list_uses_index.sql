-- The least recently used lists are looked up when room is needed.
create index if not exists list_uses_by_time on list_uses (used_at)
