-- Sums of single months give way to running totals, which the next load of a project makes. Their files are swept.
delete from fact_files where fact_table = 'keyword_months';
