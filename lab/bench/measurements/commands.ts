import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { API, type Bench } from '../bench-context.ts';
import { Connection } from '../connection.ts';
import { readProcess } from '../memory.ts';
import { ordinate, program } from '../ordinate.ts';
import { atMost, type Line, type Outcome } from '../results.ts';
import { type Sample, summarise } from '../rounds.ts';
import { workspaceName } from '../snapshots.ts';

/** A short command from shell to prompt, and `npm start` in an empty folder until it answers and until the demo has a chart. */
export async function measureCommands({ data, options }: Bench): Promise<Outcome> {
  const rounds = Math.min(options.rounds, 10);
  const [commands, processor]: [Sample[], number[]] = [[], []];
  for (let round = -1; round < rounds; round++) {
    const [before, at] = [ended(), performance.now()];
    await ordinate(data.folder, 'keys', 'list', '--workspace', workspaceName(1));
    if (round < 0) continue;
    commands.push({ ms: performance.now() - at });
    processor.push(ended() - before);
  }
  const [answers, charts]: [Sample[], Sample[]] = [[], []];
  for (let round = 0; round < Math.min(options.rounds, 3); round++) {
    const { answer, chart } = await startDemo(join(options.folder, 'started'));
    answers.push({ ms: answer });
    charts.push({ ms: chart });
  }
  const [answer, chart] = [summarise(answers), summarise(charts)];
  const line = (name: string, times: typeof answer): Line => ({ name, ...times, baselines: {} });
  return {
    lines: [
      line('keys list', summarise(commands)),
      line('npm start in an empty folder: first answer', answer),
      line("npm start in an empty folder: the demo's first chart", chart),
    ],
    targets: [
      atMost('keys list: processor time', processor.reduce((sum, one) => sum + one, 0) / rounds, 0.25, 's'),
      atMost("npm start in an empty folder: the demo's first chart", chart.median / 1000, 2, 's'),
    ],
  };
}

/** Processor time of children that have ended, in seconds. */
const ended = (): number => readProcess(process.pid)?.ended ?? Number.NaN;

/** Runs `npm start` in an empty folder; milliseconds until it answers, and until it has the days of the demo's site. */
async function startDemo(folder: string): Promise<{ answer: number; chart: number }> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const at = performance.now();
  const npm = ['npm', 'start', '--silent', '--'];
  const start = program.endsWith('.ts') ? npm : [process.execPath, program, 'serve', '--demo'];
  const child = spawn(start[0]!, [...start.slice(1), '--port', '0'], {
    env: { ...process.env, ORDINATE_DATA: join(folder, 'data') },
    stdio: ['ignore', 'pipe', 'ignore'],
    // npm does not pass signals on to what the script started.
    detached: true,
  });
  const exited = once(child, 'exit');
  const kill = () => process.kill(-child.pid!, 'SIGKILL');
  process.once('exit', kill);
  try {
    let [address, answer]: [URL | undefined, number] = [undefined, Number.NaN];
    for await (const line of createInterface({ input: child.stdout })) {
      const ready = / ready at (http:\S+)/.exec(line)?.[1];
      if (ready !== undefined) {
        address = new URL(ready);
        const connection = await Connection.open(address);
        await connection.get('/livez');
        answer = performance.now() - at;
        connection.close();
      }
      const key = /^\s+(ord_\S+)$/.exec(line)?.[1];
      if (key === undefined || address === undefined) continue;
      const connection = await Connection.open(address);
      const ask = async (path: string): Promise<unknown> => {
        const { status, body } = await connection.get(`${API}${path}`, { authorization: `Bearer ${key}` }, true);
        if (status !== 200) throw new Error(`${path} was answered with ${status}.`);
        return JSON.parse(body!.toString()) as unknown;
      };
      const { projects } = (await ask('/projects')) as { projects: { id: string }[] };
      const { daily } = (await ask(`/projects/${projects[0]!.id}/site`)) as { daily: unknown[] };
      connection.close();
      if (daily.length === 0) throw new Error('The demo has no days.');
      return { answer, chart: performance.now() - at };
    }
    throw new Error('npm start did not start.');
  } finally {
    process.removeListener('exit', kill);
    process.kill(-child.pid!, 'SIGTERM');
    await exited;
    rmSync(folder, { recursive: true, force: true });
  }
}
