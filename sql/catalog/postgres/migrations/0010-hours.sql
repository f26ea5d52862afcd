-- `hours_until`: the first hour of a project that may still change, by its start.
alter table sync_projects add column hours_until bigint;
