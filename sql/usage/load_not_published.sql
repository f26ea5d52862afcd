-- Counts a load that was not published. $kind: see `create_loads`; $rejected and $failed: 1 for the one that it was, else 0.
insert into loads (kind, rejected, failed) values ($kind, $rejected, $failed)
on conflict (kind) do update set rejected = loads.rejected + excluded.rejected, failed = loads.failed + excluded.failed
