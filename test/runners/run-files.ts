import './hooks.ts';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { temporaryFolder } from '../world.ts';
import { ALONE, fileLine, ROOT, testFiles, tookTime } from './files.ts';

const MINUTE = 60_000;

/** Takes a file that no other process has taken from the queue. */
function take(queue: string, files: string[]): string | undefined {
  for (let file = files.shift(); file !== undefined; file = files.shift()) {
    try {
      closeSync(openSync(join(queue, file.replaceAll('/', '+')), 'wx'));
      return file;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  return undefined;
}

/** What this process has spent until now, and on Linux the processes that it started and that have ended, in milliseconds. */
function spent(): { wall: number; processor: number; started: number } {
  const { user, system } = process.cpuUsage();
  return { wall: performance.now(), processor: (user + system) / 1000, started: startedProcesses() };
}

function startedProcesses(): number {
  try {
    // Behind the name, which may contain spaces: proc_pid_stat(5), cutime and cstime in ticks of 10 ms.
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]!.split(' ');
    return (Number(fields[13]) + Number(fields[14])) * 10;
  } catch {
    return 0;
  }
}

/**
 * Runs test files in this process, one after the other, until none is left: the server and what it imports take more
 * than a second to start, and then get faster. The processes of a run share a queue (the folder `TEST_QUEUE`), so that
 * all end together. `TEST_FILES` names the files; without it, all.
 */
export async function runFiles(): Promise<void> {
  const queue = process.env['TEST_QUEUE'] ?? temporaryFolder(t);
  const named = process.env['TEST_FILES'];
  const files =
    named === undefined ? testFiles().filter((file) => !ALONE.includes(file)) : (JSON.parse(named) as string[]);
  let last = { file: '', ...spent() };
  for (let more = true; more; ) {
    // Tests that the file adds run when this one has ended, and the next file is taken after them.
    await t.test('the next file', async (t) => {
      const now = spent();
      if (last.file !== '') {
        const drift = Date.now() - (performance.timeOrigin + performance.now());
        if (Math.abs(drift) > MINUTE) t.fail(`${last.file} leaves the clock of the process changed`);
        const wall = now.wall - last.wall;
        tookTime(last.file, wall);
        const seconds = (time: number): string => `${(time / 1000).toFixed(1)} s`.padStart(7);
        const own = seconds(now.processor - last.processor);
        const started = seconds(now.started - last.started);
        process.stderr.write(
          `${seconds(wall)}, of a processor ${own} and in other processes ${started}  ${last.file}\n`,
        );
      }
      const file = take(queue, files);
      more = file !== undefined;
      if (file === undefined) return;
      last = { file, ...now };
      t.comment(fileLine(file));
      await import(join(ROOT, file));
    });
  }
}
