// What a crash leaves behind holds no secret: no memory is dumped, and reports of Node have no environment.
import { globSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { startProgram, until, untilReady } from '../process.ts';
import { temporaryFolder } from '../world.ts';

const { SIGUSR2 } = constants.signals;
const PASSWORD = 'pass-word-of-mail';

/** Whether a process has a handler of a signal. */
function catches(pid: number, signal: number): boolean {
  const [, mask] = /^SigCgt:\s*(\w+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!;
  return (BigInt(`0x${mask}`) & (1n << BigInt(signal - 1))) !== 0n;
}

const skip = process.platform !== 'linux' && 'only Linux shows the processes of a process';
t.test('reports of the server and of its background jobs hold no secret of the settings', { skip }, async (t) => {
  const folder = temporaryFolder(t);
  const options = ['--report-on-signal', '--report-signal=SIGUSR2', `--report-directory=${folder}`];
  const settings = {
    ORDINATE_DATA: join(folder, 'data'),
    ORDINATE_JOBS: 'on',
    ORDINATE_MAIL_FROM: 'reports@ordinate.example',
    ORDINATE_SMTP_URL: `smtp://mailer:${PASSWORD}@127.0.0.1:2525`,
    NODE_OPTIONS: options.join(' '),
    PORT: '0',
  };
  const { child } = await untilReady(startProgram(t, settings, 'bin/ordinate', 'serve'));
  const children = `/proc/${child.pid}/task/${child.pid}/children`;
  const jobs = await until('the process of background jobs', () =>
    readFileSync(children, 'utf8')
      .split(' ')
      .filter(Boolean)
      .find((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('workers/worker')),
  );
  for (const pid of [child.pid!, Number(jobs)]) {
    const environment = readFileSync(`/proc/${pid}/environ`, 'utf8');
    t.match(environment, PASSWORD, 'the process has the secret');
    t.match(readFileSync(`/proc/${pid}/limits`, 'utf8'), /^Max core file size +0 +0 /m);
    await until('it to catch the signal', () => catches(pid, SIGUSR2) || undefined);
    const report = await until('the report', () => {
      process.kill(pid, 'SIGUSR2');
      return globSync(`report.*.${pid}.*.json`, { cwd: folder })
        .map((name) => readFileSync(join(folder, name), 'utf8'))
        .find((text) => text.trimEnd().endsWith('}'));
    });
    t.match(JSON.parse(report), { header: { processId: pid } });
    t.notMatch(report, PASSWORD);
    t.notMatch(report, 'environmentVariables');
  }
});
