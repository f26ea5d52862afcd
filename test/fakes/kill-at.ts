// Loaded into a process before all else (--import): kills the process by SIGKILL before its change number KILL_AT of the
// disk (each copy, link, sync, rename, removal). Writes the number of changes to the file KILL_COUNT when the process ends.
import { writeFileSync } from 'node:fs';
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

const at = Number(process.env['KILL_AT'] ?? 0);
let changes = 0;
const count = (): void => {
  if (++changes === at) process.kill(process.pid, 'SIGKILL');
};

const { open } = fs;
fs.open = async (...given) => {
  const handle = await open(...given);
  const sync = handle.sync.bind(handle);
  handle.sync = async () => {
    count();
    await sync();
  };
  return handle;
};
for (const name of ['copyFile', 'link', 'rename', 'rm', 'rmdir', 'writeFile'] as const) {
  const original = fs[name] as (...given: unknown[]) => Promise<void>;
  Object.assign(fs, {
    [name]: async (...given: unknown[]) => {
      count();
      await original(...given);
    },
  });
}
syncBuiltinESMExports();
process.on('exit', () => {
  const file = process.env['KILL_COUNT'];
  if (file !== undefined) writeFileSync(file, String(changes));
});
