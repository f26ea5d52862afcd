-- Stores the last use of a key. $id; $at: microseconds.
insert into key_uses values ($id, $at)
on conflict (id) do update set
  used_at = case when key_uses.used_at > excluded.used_at then key_uses.used_at else excluded.used_at end
