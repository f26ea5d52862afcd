-- All fact tables that loads have contained, by project.
select project_id as project, fact_table as "table" from loaded_tables
