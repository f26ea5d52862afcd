import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { parse } from 'yaml';
import { freePort } from '../../free-port.ts';
import { until } from '../../process.ts';
import { ROOT } from '../../readme.ts';
import { temporaryFolder } from '../../world.ts';

const PROGRAM = process.env['HAPROXY'] || 'haproxy';

export const noBalancer: string | false =
  spawnSync(PROGRAM, ['-v'], { stdio: 'ignore' }).status === 0 ? false : 'haproxy is not installed (HAPROXY names it)';

/** The balancer of `compose.cluster.yaml`, before nodes of a test. Returns its address. */
export async function startBalancer(t: Test, nodes: readonly string[]): Promise<string> {
  const compose = parse(readFileSync(join(ROOT, 'compose.cluster.yaml'), 'utf8')) as {
    configs: { balancer: { content: string } };
  };
  const port = await freePort();
  const servers = nodes.map(
    (address, index) => `  server node${index} ${new URL(address).host} check inter 200ms fall 2 rise 1`,
  );
  const config = compose.configs.balancer.content
    .replace(/^resolvers docker\n(?: .*\n)+/m, '')
    .replace('bind :3000', `bind 127.0.0.1:${port}`)
    .replace(/^ *server-template .*$/m, servers.join('\n'));
  const file = join(temporaryFolder(t), 'haproxy.cfg');
  writeFileSync(file, config);
  const child = spawn(PROGRAM, ['-db', '-f', file], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  t.teardown(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const address = `http://127.0.0.1:${port}`;
  await until('the balancer', async () => {
    if (child.exitCode !== null) throw new Error(`haproxy ended with ${child.exitCode}: ${config}`);
    return fetch(`${address}/livez`)
      .then(({ ok }) => ok || undefined)
      .catch(() => undefined);
  });
  return address;
}
