-- Lists of an older revision of their project.
select l.file from lists l join projects p on p.id = l.project_id where l.revision < p.revision
