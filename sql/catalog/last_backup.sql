-- The last successful backup.
select target, started_at as startedAt, finished_at as finishedAt, files, bytes, copied_bytes as copiedBytes
from last_backup
