-- Running totals replace the sums of single months. The next load of a project makes them. The old files are swept.
delete from fact_files where fact_table = 'keyword_months';
