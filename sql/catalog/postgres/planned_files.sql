-- The files that loads have planned and not settled, but those to be removed again later. $at: now, in microseconds.
select file, load, again_at from planned_files where again_at is null or again_at <= $at
