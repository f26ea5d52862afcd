// Imported first: on an older version the program would start and fail at its first date.
if (typeof Temporal === 'undefined') {
  process.stderr.write(`Ordinate needs Node 26 or later; this is ${process.version}.\n`);
  process.exit(1);
}
