-- The bytes that the engine has in memory, and those that it has spilled to disk.
select coalesce(sum(memory_usage_bytes), 0)::double as memory, coalesce(sum(temporary_storage_bytes), 0)::double as spilled
from duckdb_memory()
