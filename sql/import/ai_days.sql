-- Writes the days of a report about AI answers. {measure}: what it counts. $file: staged rows; $project, $target.
copy (select $project as project_id, date, count as {measure} from read_parquet($file)) to $target (format parquet)
