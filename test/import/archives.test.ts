// An archive is imported whole, as it was packed, or refused by name with nothing stored.
import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { zipSync } from 'fflate';
import t from 'tap';
import { command } from '../command.ts';
import { makeLazyWorld, temporaryFolder } from '../world.ts';

const CHART = 'Date,Clicks,Impressions,CTR,Position\n2026-03-01,10,100,10%,5.4\n2026-03-03,"1,200",24000,5%,12.25\n';
const ROWS = /^site_daily: 2 rows, 2026-03-01 to 2026-03-03$/m;

function zipOf(files: Readonly<Record<string, string>>, level: 0 | 6 = 6): Buffer {
  const entries = Object.entries(files).map(([file, text]) => [file, Buffer.from(text)]);
  return Buffer.from(zipSync(Object.fromEntries(entries) as Record<string, Buffer>, { level }));
}

/** Bytes of zip files: entries of the directory at its end begin with these, the end of the directory with others. */
const [ENTRY, END] = ['PK\x01\x02', 'PK\x05\x06'];

/** Changes a number of each entry in the directory of an archive. @param at 16: checksum; 24: size when unpacked; 42: where its data is */
function changeEntries(zip: Buffer, at: 16 | 24 | 42, change: (value: number) => number): Buffer {
  for (let entry = zip.indexOf(ENTRY); entry !== -1; entry = zip.indexOf(ENTRY, entry + 1))
    zip.writeUInt32LE(change(zip.readUInt32LE(entry + at)) >>> 0, entry + at);
  return zip;
}

const replaced = (zip: Buffer, old: string, next: string): Buffer =>
  Buffer.from(zip.toString('latin1').replaceAll(old, next), 'latin1');

t.test('archives that are damaged, say too much, or say one thing twice', async (t) => {
  const world = await makeLazyWorld(t, { projects: [] });
  const path = join(temporaryFolder(t), 'export.zip');
  const words = ['search-console', path, '--workspace', 'acme', '--property', 'sc-domain:shop.example', '--force'];
  const imported = () => command({ ORDINATE_DATA: world.dataFolder }, 'import', ...words);
  const [packed, stored] = [zipOf({ 'Chart.csv': CHART }), zipOf({ 'Chart.csv': CHART }, 0)];
  const broken = (why: string): string =>
    `'export.zip' is damaged or cut off, or not a zip file: ${why}. Copy or download it again.`;
  const checksum = broken("the content of 'Chart.csv' does not match its checksum");
  const long = `${CHART}2026-03-04,${'1'.repeat(33_000_000)}`;
  const twice = zipOf({ 'Read me.txt': 'Charts', 'Chart.csv': CHART, 'Charu.csv': CHART });
  const refused: Readonly<Record<string, readonly [Buffer, string | RegExp]>> = {
    'no archive': [
      Buffer.from('no zip'),
      broken('End of central directory record signature not found. Either not a zip file, or file is truncated.'),
    ],
    'a digit of a text that is not compressed': [replaced(stored, '24000', '94000'), checksum],
    'a checksum': [changeEntries(zipOf({ 'Chart.csv': CHART }), 16, (sum) => sum ^ 1), checksum],
    'half of it': [packed.subarray(0, Math.floor(packed.length / 2)), /is damaged or cut off/],
    'without its last byte': [stored.subarray(0, -1), /is damaged or cut off/],
    'a byte too many': [changeEntries(zipOf({ 'Chart.csv': CHART }), 24, (size) => size + 1), /: not enough bytes/],
    'a byte too few': [changeEntries(zipOf({ 'Chart.csv': CHART }), 24, (size) => size - 1), /: too many bytes/],
    'more than 2 GB': [
      changeEntries(zipOf({ 'Chart.csv': CHART }), 24, () => 2_000_000_001),
      /larger than 2 GB when unpacked/,
    ],
    'a long last line': [zipOf({ 'Chart.csv': long }), /'Chart\.csv', line 4: the line is longer than 2 MB/],
    'two files of one name': [
      replaced(twice, 'Charu.csv', 'Chart.csv'),
      `{"date":"2026-03-01"} is in 2 of the files 'Chart.csv (CSV file 1 of the archive)', 'Chart.csv (CSV file 2 of the archive)'; import each row once.`,
    ],
    none: [zipOf({ 'Read me.txt': 'x' }), /has no CSV file/],
  };
  for (const [what, [bytes, message]] of Object.entries(refused)) {
    writeFileSync(path, bytes);
    const { code, stdout, stderr } = await imported();
    t.match(
      { code, stdout, stderr: stderr.replaceAll(path, 'export.zip').trimEnd() },
      { code: 1, stdout: '', stderr: message },
      what,
    );
  }
  t.strictSame((await world.get('/projects')).body.projects, []);
  writeFileSync(path, stored);
  t.match(await imported(), { code: 0, stdout: ROWS });

  // Nothing is written before it: the file is longer than memory may be, and takes no space.
  const hole = 3_000_000_000;
  const far = changeEntries(packed, 42, (offset) => offset + hole);
  const end = far.lastIndexOf(END);
  far.writeUInt32LE(far.readUInt32LE(end + 16) + hole, end + 16);
  const file = openSync(path, 'w');
  writeSync(file, far, 0, far.length, hole);
  closeSync(file);
  t.match(await imported(), { code: 0, stdout: ROWS }, 'it is read from the disk as far as it is needed');
});
