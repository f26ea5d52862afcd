-- When the removed file of a load that ended is removed once more, in microseconds: a store may still have put it there.
alter table planned_files add column again_at bigint;
