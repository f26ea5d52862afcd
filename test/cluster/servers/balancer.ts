import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { parse } from 'yaml';
import { freePort } from '../../free-port.ts';
import { ROOT } from '../../readme.ts';
import { temporaryFolder } from '../../world.ts';
import { isInstalled, Program } from './program.ts';

const PROGRAM = process.env['HAPROXY'] || 'haproxy';

export const noBalancer: string | false = !isInstalled(PROGRAM, '-v') && 'haproxy is not installed (HAPROXY names it)';

/** The balancer of `compose.cluster.yaml`, before nodes of a test. */
export class Balancer extends Program {
  readonly address: string;

  private constructor(file: string, port: number) {
    super([PROGRAM, '-db', '-f', file]);
    this.address = `http://127.0.0.1:${port}`;
  }

  static async make(t: Test, nodes: readonly string[]): Promise<Balancer> {
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
    const balancer = new Balancer(file, port);
    t.teardown(() => balancer.stop());
    await balancer.start();
    return balancer;
  }

  protected async answers(): Promise<void> {
    const { ok } = await fetch(`${this.address}/livez`);
    if (!ok) throw new Error('no node answers');
  }
}
