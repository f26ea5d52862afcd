-- Marks all projects as changed, and stores how many unarchived keywords each has. $revision.
update projects set facts_revision = $revision, entities_revision = $revision, files_since = $revision,
  tracked_keywords = (select count(*) from keywords k where k.project_id = projects.id and k.archived = 0)
