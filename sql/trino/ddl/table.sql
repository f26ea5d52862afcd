-- A table over the Parquet files of all projects. A project is a partition that nobody has to register: its folder follows
-- from its id.
create table if not exists {table} (
  {columns},
  project_id varchar with (partition_projection_type = 'injected')
) with (
  format = 'PARQUET',
  external_location = {location},
  partitioned_by = array['project_id'],
  partition_projection_enabled = true,
  partition_projection_location_template = {template}
)
