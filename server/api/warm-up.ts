import { connect } from 'node:net';
import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { findAccess, hashOf } from '../catalog/keys.ts';
import { findLargestProject } from '../catalog/projects.ts';
import { keywordsJson, keywordsPreset } from '../presets/keywords.ts';
import { askPreset } from '../presets/preset.ts';
import type { Context } from './context.ts';
import { whileListening } from './while-listening.ts';

/** The keywords of a larger project would take more memory than an idle server should. */
const MAX_KEYWORDS = 5000;
/** More times compile more of the code, but take more memory than they save time. */
const TIMES = 2;

/** How long an answer over the network is waited for, in milliseconds. */
const LONGEST_OVER_HTTP = 1000;

declare module 'fastify' {
  interface FastifyInstance {
    /** Waits until a listening server is prepared for its first request, or has prepared for long enough. */
    prepared: () => Promise<void>;
  }
}

/**
 * Prepares a listening server for its first request, which would otherwise take ten times as long as later ones, while
 * keywords are read, files compared, statements planned and code compiled: asks about the largest project, and drops the
 * answer. Requests are answered meanwhile. Ends when the server closes.
 * @param longest after so many milliseconds the server is ready nevertheless: files may be far away
 */
export function addWarmUp(app: FastifyInstance, context: Context, longest: number): void {
  let enough: Promise<void> | undefined;
  const running = whileListening(app, 'could not prepare for the first question', async (signal) => {
    enough = sleep(longest, undefined, { ref: false });
    await Promise.all([askForAccess(context), askLargestProject(context, signal)]);
  });
  app.decorate('prepared', () => Promise.race([running(), enough]));
}

/** The first hash of a process takes 3 ms. */
async function askForAccess({ catalog }: Context): Promise<void> {
  await findAccess(catalog, hashOf(''));
}

async function askLargestProject(context: Context, signal: AbortSignal): Promise<void> {
  const project = await findLargestProject(context.catalog, MAX_KEYWORDS);
  if (project === undefined) return;
  const request = { ...project, projects: null, reader: '', signal };
  for (let time = 0; time < TIMES; time++) {
    keywordsJson(await askPreset(keywordsPreset, context, request, { limit: String(MAX_KEYWORDS) }));
  }
}

/** Asks whether a server lives, over the network: compiles code that reads requests and writes answers. */
export async function askOverHttp(address: string): Promise<void> {
  const { hostname, port } = new URL(address);
  // An address of IPv6 stands in brackets.
  const client = connect({
    host: hostname.replaceAll(/[[\]]/g, ''),
    port: Number(port),
    signal: AbortSignal.timeout(LONGEST_OVER_HTTP),
  });
  client.end('GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
  await finished(client.resume());
}
