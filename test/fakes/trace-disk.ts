// Loaded into a process before all else (--import): writes a line to the file DISK_TRACE for each fsync of a file or folder, each
// rename, and each commit of an SQLite database with its `synchronous`, in the order in which they end.
import { appendFileSync } from 'node:fs';
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { DatabaseSync } from 'node:sqlite';

const note = (...words: unknown[]): void => appendFileSync(process.env['DISK_TRACE']!, `${words.join(' ')}\n`);

const { open, rename } = fs;
fs.open = async (...given) => {
  const handle = await open(...given);
  for (const name of ['sync', 'datasync'] as const) {
    const original = handle[name].bind(handle);
    handle[name] = async () => {
      await original();
      note('sync', given[0]);
    };
  }
  return handle;
};
fs.rename = async (from, to) => {
  await rename(from, to);
  note('rename', from, to);
};
syncBuiltinESMExports();

const { value: exec } = Object.getOwnPropertyDescriptor(DatabaseSync.prototype, 'exec') as {
  value: (this: DatabaseSync, text: string) => void;
};
DatabaseSync.prototype.exec = function (text) {
  exec.call(this, text);
  if (text === 'commit') note('commit', this.location(), this.prepare('pragma synchronous').get()?.['synchronous']);
};
