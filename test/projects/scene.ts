import type { Test } from 'tap';
import { ordinate } from '../fakes/command-line.ts';
import { credentialsFile } from '../fakes/connected.ts';
import { type FakeSearchConsole, fakeSearchConsole } from '../fakes/search-console.ts';
import { makeWorld, type Tables, type World } from '../world.ts';

export interface Scene extends World {
  readonly google: FakeSearchConsole;
  readonly run: (...words: readonly string[]) => ReturnType<typeof ordinate>;
  /** As `run`; what it prints with `--json`. Fails the test where the command fails. */
  // biome-ignore lint/suspicious/noExplicitAny: documents are compared as a whole or picked from
  readonly json: (...words: readonly string[]) => Promise<any>;
  /** Options that lead to the fake. */
  readonly connection: readonly string[];
  readonly credentials: string;
}

/** A world whose commands can reach a provider with three properties. */
export async function scene(t: Test, tables: Tables = {}): Promise<Scene> {
  const google = await fakeSearchConsole(t);
  google.sites = [
    { siteUrl: 'sc-domain:acme.example', permissionLevel: 'siteOwner' },
    { siteUrl: 'https://blog.example/', permissionLevel: 'siteRestrictedUser' },
    { siteUrl: 'https://else.example/', permissionLevel: 'siteUnverifiedUser' },
  ];
  const world = await makeWorld(t, tables);
  const credentials = credentialsFile(t);
  const run: Scene['run'] = (...words) => ordinate(world.dataFolder, ...words);
  const json: Scene['json'] = async (...words) => {
    const { code, out, error } = await run(...words, '--json');
    t.match({ code, error }, { code: 0, error: '' }, words.join(' '));
    return JSON.parse(out) as unknown;
  };
  const addresses = ['--endpoint', google.url, '--token-endpoint', google.tokenUrl];
  return { ...world, google, run, json, credentials, connection: ['--credentials', credentials, ...addresses] };
}
