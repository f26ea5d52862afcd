-- Writes one consistent state of the catalog to a new file, beside readers and writers. $path.
vacuum into $path
