import { join } from 'node:path';
import { print } from '../../../cli/cli.ts';
import { measured, ordinate, startServer } from '../ordinate.ts';
import { inWords, lightRequests } from './light.ts';
import { startModel } from './model.ts';
import { makeKeys } from './world.ts';

export interface BackfillOptions {
  readonly keywords: number;
  readonly latency: number;
  /** `ORDINATE_PROVIDER_REQUESTS_PER_MINUTE` and `ORDINATE_PROVIDER_REQUESTS_PER_SECOND`. */
  readonly perMinute: number;
  readonly perSecond: number;
  /** Seconds of light requests to a server that is idle; 0: no server beside the backfill. */
  readonly idle: number;
}

/** A new project reads 16 months; what was planned, what was asked, and what it took. */
export async function measureBackfill(folder: string, options: BackfillOptions): Promise<void> {
  const { keywords, latency, perMinute, perSecond, idle } = options;
  const model = await startModel(folder, { properties: 1, queries: keywords, latency, perMinute: 100_000 });
  const dataFolder = join(folder, 'data');
  const { credentials, endpoint, tokenEndpoint } = model.connection;
  await ordinate(dataFolder, 'workspaces', 'create', '--id', 'bench', '--name', 'Bench', '--plan', 'team');
  const connection = ['--credentials', credentials!, '--endpoint', endpoint!, '--token-endpoint', tokenEndpoint!];
  const what = ['--property', model.properties[0]!, '--track-top', String(keywords), '--brand-term', 'acme'];
  const words = ['projects', 'create', '--workspace', 'bench', ...what, ...connection, '--archive', 'none', '--json'];
  const { project } = JSON.parse(await ordinate(dataFolder, ...words)) as {
    project: { id: string; trackedKeywords: number };
  };
  const planned = /(\d+) requests/.exec(await ordinate(dataFolder, 'sync', '--dry-run'))?.[1];
  print(`${project.trackedKeywords} keywords, ${latency} ms an answer; planned: ${planned} requests`);

  process.env['ORDINATE_PROVIDER_REQUESTS_PER_MINUTE'] = String(perMinute);
  process.env['ORDINATE_PROVIDER_REQUESTS_PER_SECOND'] = String(perSecond);
  process.env['ORDINATE_SYNC'] = 'off';
  process.env['ORDINATE_LOG_LEVEL'] = 'warn';
  const keys = await makeKeys(dataFolder, 'bench');
  const server = idle === 0 ? undefined : await startServer({ dataFolder, keys, cache: false });
  const ended = new AbortController();
  const beside = server && lightRequests(server, [project.id], ended.signal);
  // As in the process of background jobs, whose backfills run beside a server.
  process.env['ORDINATE_THREADS'] = '1';
  const { seconds, processor, peak } = await measured(dataFolder, 'sync', '--project', project.id);
  ended.abort();
  const latencies = await beside;
  if (server !== undefined && latencies !== undefined) {
    print(`light requests beside it: ${inWords(latencies)}`);
    print(
      `light requests afterwards: ${inWords(await lightRequests(server, [project.id], AbortSignal.timeout(idle * 1000)))}`,
    );
    await server.stop();
  }
  const asked = await model.stop();
  print(`asked: ${asked.length} requests, ${asked.reduce((sum, { rows }) => sum + rows, 0)} rows`);
  print(`${seconds.toFixed(0)} s, processor ${processor?.toFixed(0)} s, peak memory ${peak?.toFixed(0)} MB`);
  print(`${((asked.length / seconds) * 60).toFixed(0)} requests a minute`);
}
