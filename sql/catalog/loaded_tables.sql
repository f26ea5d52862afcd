-- All fact tables that loads have carried, by project.
select project_id as project, fact_table as "table" from loaded_tables
