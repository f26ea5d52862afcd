-- The schema of the fact tables, with a folder for what the metastore keeps of it.
create schema if not exists {schema} with (location = {location})
