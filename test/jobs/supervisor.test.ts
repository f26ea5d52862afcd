// A job process that ends is started again after a growing pause, until the server stops.
import t from 'tap';
import { Supervisor, type WorkerProcess } from '../../server/jobs/supervisor.ts';
import { FakeClock } from '../fakes/fake-clock.ts';
import { NOW } from '../world.ts';

/** Processes that end when a test says so. */
class Processes {
  readonly clock = new FakeClock(NOW);
  /** When each was started, in seconds. */
  readonly started: number[] = [];
  stopped = 0;
  #end: (how: string) => void = () => {};

  readonly start = (): WorkerProcess => {
    this.started.push((this.clock.now() - NOW) / 1000);
    const { promise: ended, resolve } = Promise.withResolvers<string>();
    this.#end = resolve;
    const stop = (): void => {
      this.stopped++;
      resolve('SIGTERM');
    };
    return { pid: this.started.length, ended, stop };
  };

  end(): void {
    this.#end('SIGKILL');
  }
}

const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

t.test('a process that ends is started again after a growing pause; one that ran for long begins anew', async (t) => {
  const processes = new Processes();
  const { clock, started } = processes;
  const supervisor = new Supervisor({ name: 'a process', start: processes.start, log, clock, random: () => 0 });
  for (let ends = 0; ends < 10; ends++) {
    processes.end();
    await clock.advance(60_000);
  }
  const pauses = started.slice(1).map((at, index) => at - index * 60);
  t.strictSame(pauses, [0.5, 1, 2, 4, 8, 16, 32, 60, 60, 60]);
  await clock.advance(300_000);
  processes.end();
  await clock.advance(500);
  t.equal(started.length, 12);
  await supervisor.stop();
  t.equal(processes.stopped, 1, 'the last one, by its signal');
  await clock.advance(120_000);
  t.equal(started.length, 12, 'and none is started any more');
});

t.test('stopped between two processes, it starts none', async (t) => {
  const processes = new Processes();
  const supervisor = new Supervisor({
    name: 'a process',
    start: processes.start,
    log,
    clock: processes.clock,
    random: () => 0,
  });
  processes.end();
  await processes.clock.advance(100);
  await supervisor.stop();
  await processes.clock.advance(60_000);
  t.strictSame(processes.started, [0]);
});

t.test('a process that cannot be started is tried again; the server goes on', async (t) => {
  const { clock, start, started } = new Processes();
  let tries = 0;
  const supervisor = new Supervisor({
    name: 'a process',
    start: () => {
      if (++tries < 3) throw new Error('spawn EAGAIN');
      return start();
    },
    log,
    clock,
    random: () => 0,
  });
  await clock.advance(10_000);
  t.strictSame(started, [1.5]);
  await supervisor.stop();
});
