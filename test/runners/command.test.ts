// `npm test` says at once what it does, and when it is stopped that it was, not that tests failed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import t from 'tap';
import { ROOT } from './files.ts';

t.test('it begins with how many files there are, and ends with a word about the signal', async (t) => {
  // A process group of its own, whose members all get the signal, as from a terminal.
  const child = spawn(process.execPath, ['scripts/test.ts', 'test/fixtures/waits-for-ever.ts'], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  t.teardown(() => child.kill('SIGKILL'));
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    if (line.includes('waiting')) process.kill(-child.pid!, 'SIGINT');
  }
  const [code] = child.exitCode === null ? ((await once(child, 'exit')) as [number | null]) : [child.exitCode];
  t.equal(lines[0], '# 1 test file; preparing');
  t.equal(code, 130);
  t.match(lines.at(-1), /^Stopped: \d of 1 files began\.$/);
  t.notMatch(lines.join('\n'), /FAILED|\d failed|left out/);
});
