// What a crash leaves behind holds no secret: no memory is dumped, and reports of Node have no environment.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { startProgram, until, untilReady } from '../process.ts';
import { temporaryFolder } from '../world.ts';

const PASSWORD = 'pass-word-of-mail';

const skip = process.platform !== 'linux' && 'only Linux shows the processes of a process';
t.test('reports of the server and of its background jobs hold no secret of the settings', { skip }, async (t) => {
  const folder = temporaryFolder(t);
  // Other signals stop a server, or end a process that does not wait for them yet.
  const options = ['--report-on-signal', '--report-signal=SIGWINCH', `--report-directory=${folder}`];
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
    const report = await until('the report', () => {
      process.kill(pid, 'SIGWINCH');
      return globSync(`report.*.${pid}.*.json`, { cwd: folder })
        .map((name) => readFileSync(join(folder, name), 'utf8'))
        .find((text) => text.trimEnd().endsWith('}'));
    });
    t.match(JSON.parse(report), { header: { processId: pid } });
    t.notMatch(report, PASSWORD);
    t.notMatch(report, 'environmentVariables');
  }
});
