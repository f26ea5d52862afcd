import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { print } from '../../cli/cli.ts';
import { loadDemo } from '../../cli/commands/demo.ts';
import type { OpenCatalog } from '../../server/catalog/catalog.ts';
import { createKey } from '../../server/catalog/keys.ts';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { requireProject } from '../../server/catalog/projects.ts';
import { addChannel } from '../../server/channels/channels.ts';
import { readSettings, type Settings } from '../../server/settings/settings.ts';
import { startServer } from '../bench/ordinate.ts';
import { Receiver } from './receiver.ts';

/** A project of the demo. */
export const PROJECT = 'Fw7kd';

export interface Scene {
  readonly settings: Settings;
  readonly environment: NodeJS.ProcessEnv;
  readonly catalog: OpenCatalog;
  readonly receiver: Receiver;
  readonly origin: string;
}

/** Makes a data folder of the demo, and a receiver; both are gone after `work`. */
export async function withScene(
  work: (scene: Scene) => Promise<void>,
  { delay = () => 0, catalogUrl = '' }: { delay?: () => number; catalogUrl?: string | undefined } = {},
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'ordinate-evidence-'));
  const receiver = new Receiver(delay);
  try {
    const origin = await receiver.listen();
    const environment = {
      ...process.env,
      ORDINATE_DATA: join(folder, 'data'),
      ORDINATE_SECRETS_KEY_FILE: join(folder, 'keys', 'secrets.key'),
      ORDINATE_DELIVERY_LOOPBACK: 'on',
      ORDINATE_CATALOG: catalogUrl,
    };
    const settings = readSettings(environment);
    await using catalog = await openCatalog(settings);
    await loadDemo({ settings, catalog }, { evaluate: false });
    await work({ settings, environment, catalog, receiver, origin });
  } finally {
    receiver.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Adds channels that hear of all alerts. */
export async function addChannels({ settings, catalog, origin }: Scene, count: number): Promise<void> {
  const { workspaceId: workspace } = await requireProject(catalog, PROJECT);
  for (let index = 0; index < count; index++) {
    const wanted = { workspace, kind: 'webhook', to: `${origin}/${index}` } as const;
    await addChannel({ settings, catalog }, wanted, { by: 'evidence', at: Date.now() * 1000 });
  }
}

/** A server, and the keys of its workspace. */
export interface Client {
  readonly address: URL;
  readonly keys: readonly string[];
}

/** The 95th percentiles of light requests to each server, by turns, until `until` resolves. In milliseconds. */
export async function ask(
  clients: readonly Client[],
  until: Promise<unknown>,
): Promise<{ p95: number[]; count: number }> {
  let isOver = false;
  void until.then(() => {
    isOver = true;
  });
  const times = clients.map((): number[] => []);
  for (let index = 0; !isOver; index++) {
    const path = `/api/v1/projects/${PROJECT}/site?from=2026-01-01&to=2026-01-${10 + (index % 18)}`;
    for (const [number, { address, keys }] of clients.entries()) {
      const began = performance.now();
      const answer = await fetch(new URL(path, address), {
        headers: { authorization: `Bearer ${keys[index % keys.length]}` },
      });
      await answer.arrayBuffer();
      if (answer.status !== 200) throw new Error(`${answer.status} of ${path}`);
      times[number]!.push(performance.now() - began);
    }
    // 20 keys may send 2,400 requests a minute.
    await sleep(28);
  }
  const p95 = times.map((all) => all.sort((a, b) => a - b)[Math.floor(all.length * 0.95)]!);
  return { p95, count: times[0]!.length };
}

/** Starts the server of a scene with its background jobs, for `work`. */
export async function withServer(
  { environment, catalog }: Scene,
  work: (client: Client) => Promise<void>,
): Promise<void> {
  const { workspaceId: workspace } = await requireProject(catalog, PROJECT);
  const keys: string[] = [];
  for (let index = 0; index < 20; index++) {
    keys.push((await createKey(catalog, { workspace, name: `key ${index}`, by: null, at: Date.now() * 1000 })).key);
  }
  const settings = { ...environment, ORDINATE_JOBS: 'on' };
  const server = await startServer({ dataFolder: environment['ORDINATE_DATA']!, keys: [], cache: true, settings });
  try {
    await work({ address: server.address, keys });
  } finally {
    await server.stop();
  }
}

/** Prints times of two servers that were asked by turns: the one with the work, and the one without. */
export function printTimes(times: Readonly<Record<string, { readonly p95: number[]; readonly count: number }>>): void {
  print('| light requests, p95 | with the work | without, by turns | ratio |');
  print('| --- | --- | --- | --- |');
  for (const [when, { p95, count }] of Object.entries(times)) {
    const [busy, calm] = p95 as [number, number];
    const ratio = (busy / calm).toFixed(2);
    print(`| ${when} (${count} each) | ${busy.toFixed(2)} ms | ${calm.toFixed(2)} ms | ${ratio} |`);
  }
}
