import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { Test } from 'tap';
import type { Failure } from './search-console-failures.ts';
import { serve } from './serve.ts';

export const DATASET = 'acme-project.searchconsole';
const [PROJECT_ID = '', DATASET_ID = ''] = DATASET.split('.');

/** A BigQuery emulator behind a door that counts requests and can fail them. */
export interface FakeBigQuery {
  readonly url: string;
  /** Bodies of the jobs that were started. */
  readonly jobs: { configuration: { query: Record<string, unknown>; jobTimeoutMs?: string } }[];
  failure: Exclude<Failure, string> | 'reset' | undefined;
  /** When set, the door itself answers lists, with so many rows: the emulator needs minutes for a hundred thousand. */
  rows: number | undefined;
  /** Makes a table; columns as `name TYPE, name TYPE`. */
  readonly table: (name: string, columns: string) => Promise<void>;
  /** Runs a statement without going through the door; `{d}` stands for the dataset. */
  readonly run: (sql: string) => Promise<void>;
}

/** Starts the emulator with an empty dataset; it ends with the test. */
export async function fakeBigQuery(t: Test): Promise<FakeBigQuery> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'bigquery-emulator.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  const [printed] = (await once(child.stdout, 'data')) as [Buffer];
  const emulator = new URL(printed.toString().trim());

  const post = async (path: string, body: object): Promise<void> => {
    const response = await fetch(new URL(`/bigquery/v2/projects/${PROJECT_ID}/${path}`, emulator), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
  };
  const reference = { projectId: PROJECT_ID, datasetId: DATASET_ID };
  await post('datasets', { datasetReference: reference });

  const fake: FakeBigQuery = {
    url: '',
    jobs: [],
    failure: undefined,
    rows: undefined,
    table: (name, columns) => {
      const fields = columns.split(', ').map((column) => {
        const [field = '', type = ''] = column.split(' ');
        return { name: field, type };
      });
      const tableReference = { ...reference, tableId: name };
      return post(`datasets/${DATASET_ID}/tables`, { tableReference, schema: { fields } });
    },
    run: (sql) => post('queries', { query: sql.replaceAll('{d}', DATASET), useLegacySql: false }),
  };
  const lists = new ListJobs();
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await buffer(request);
    if (request.method === 'POST') fake.jobs.push(JSON.parse(body.toString()) as FakeBigQuery['jobs'][number]);
    const send = (status: number, answer: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(typeof answer === 'string' ? answer : JSON.stringify(answer));
    };
    const { failure } = fake;
    if (failure === 'reset') response.socket?.destroy();
    else if (failure !== undefined) send(failure.status, failure.body);
    else if (fake.rows !== undefined && lists.isAbout(request, body)) send(200, lists.answer(fake.rows, request, body));
    else {
      const { authorization: _, ...headers } = request.headers;
      const onward = httpRequest(new URL(request.url ?? '', emulator), { method: request.method ?? '', headers });
      onward.on('response', (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      });
      onward.end(body);
    }
  };
  return Object.assign(fake, { url: await serve(t, (request, response) => void answer(request, response)) });
}

/** Lists that the door answers: each job is done at once, and its rows come in parts. */
class ListJobs {
  readonly #ids = new Set<string>();

  /** Whether a request is about a list. */
  isAbout({ method, url = '' }: IncomingMessage, body: Buffer): boolean {
    if (method !== 'POST') return this.#ids.has(/\/queries\/([^?]+)/.exec(url)?.[1] ?? '');
    return body.includes('as text');
  }

  answer(count: number, { method, url = '' }: IncomingMessage, body: Buffer): object {
    if (method === 'POST') {
      const { jobReference } = JSON.parse(body.toString()) as { jobReference: { jobId: string } };
      this.#ids.add(jobReference.jobId);
      return { jobReference, status: { state: 'DONE' } };
    }
    const asked = new URL(url, 'http://door').searchParams;
    const start = Number(asked.get('pageToken') ?? 0);
    const end = Math.min(count, start + Number(asked.get('maxResults')));
    const cells = (n: number) => [`query ${n}`, '1', '10', '20'].map((v) => ({ v }));
    return {
      jobComplete: true,
      schema: { fields: ['text', 'clicks', 'impressions', 'sum_position'].map((name) => ({ name, type: 'STRING' })) },
      rows: Array.from({ length: end - start }, (_, index) => ({ f: cells(start + index) })),
      ...(end < count ? { pageToken: String(end) } : {}),
    };
  }
}
