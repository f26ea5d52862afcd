-- Days of facts that a workspace keeps; null: as many as the setting says; 0: all.
alter table workspaces add column keep_days integer;
-- The first day that the last run of a sync was to keep; null: all.
alter table sync_projects add column kept_from text;
