import assert from 'node:assert/strict';
import type { Test } from 'tap';
import { buildApp } from '../../server/app.ts';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { createLink } from '../../server/catalog/sessions.ts';
import { addMember } from '../../server/catalog/workspaces.ts';
import { createKey } from '../../server/operations/keys.ts';
import { readSettings } from '../../server/settings/settings.ts';
import { command } from '../command.ts';
import { Providers } from '../dashboard/providers.ts';
import { makeTeam } from '../dashboard/team.ts';
import { startReceiver } from '../fakes/receiver.ts';
import { ONE_THREAD, sharedEngine } from '../world.ts';
import { BING_KEY, type Made, type Making, NOUNS, type Scene, TABLES } from './nouns.ts';

/** A copy of the world: the settings of its server and commands, and the time in milliseconds. */
export interface Copy {
  readonly environment: NodeJS.ProcessEnv;
  readonly at: number;
}

const OWN_PAGE = { 'sec-fetch-site': 'same-origin', host: 'localhost' };
const rowsOf =
  (catalog: Scene['catalog']): Scene['rows'] =>
  async (table) => {
    const fills = { table, columns: '*' };
    const rows = await catalog.statements.all<Record<string, string>>({ template: 'rows.all', fills });
    // Databases have an order of their own.
    return rows.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  };
const statusOf =
  (app: Scene['app']): Scene['status'] =>
  async (url, headers = {}, method = 'GET') =>
    (await app.inject({ method, url, headers: { ...OWN_PAGE, ...headers } })).statusCode;

function runIn(environment: NodeJS.ProcessEnv): Scene['run'] {
  return async (...words) => {
    const { code, stdout, stderr } = await command(environment, ...words, '--json');
    assert.equal(code, 0, `${words.join(' ')}: ${stderr}`);
    return stdout === '' ? null : JSON.parse(stdout);
  };
}

/** Opens what is left after a loss, with an owner and a key of its own, which no noun shows. */
async function lookAt({ environment, at }: Copy): Promise<Scene & AsyncDisposable> {
  const settings = readSettings({ ORDINATE_LOG_LEVEL: 'silent', ...ONE_THREAD, ...environment });
  const catalog = await openCatalog(settings);
  const engine = await sharedEngine(settings);
  const app = await buildApp({ settings, catalog, engine, now: () => at, logStream: { write: () => {} } });
  const email = 'observer@acme.example';
  await addMember(catalog, 'acme', email, 'owner');
  const { token } = await createLink(catalog, { workspace: 'acme', who: { keyId: null, email }, at: at * 1000 });
  const { key } = await createKey(catalog, { workspace: 'acme', name: 'observer', at: at * 1000 });
  const signIn = { ...OWN_PAGE, authorization: `Bearer ${token}` };
  const { headers: signedIn } = await app.inject({ method: 'POST', url: '/app/session', headers: signIn });
  const cookie = String(signedIn['set-cookie']).split(';')[0]!;
  return {
    ...{ catalog, settings, app, run: runIn(environment), rows: rowsOf(catalog), status: statusOf(app) },
    ask: async (method, path, payload) => {
      const headers = { ...OWN_PAGE, cookie };
      const answer = await app.inject({ method, url: `/app/api${path}`, headers, ...(payload && { payload }) });
      assert.ok(answer.statusCode < 300, `${method} ${path}: ${answer.body}`);
      return answer.body === '' ? null : answer.json();
    },
    read: async (path) =>
      (await app.inject({ url: `/api/v1${path}`, headers: { authorization: `Bearer ${key}` } })).json(),
    [Symbol.asyncDispose]: async () => {
      await app.close();
      await catalog.close();
    },
  };
}

/** What is seen of all nouns, by their names. */
export async function seenOf(copy: Copy, made: Made): Promise<ReadonlyMap<string, unknown>> {
  await using scene = await lookAt(copy);
  const seen = new Map<string, unknown>();
  for (const { what, seen: see } of NOUNS) seen.set(what, JSON.parse(JSON.stringify((await see(scene, made)) ?? null)));
  return seen;
}

/** A world in which all nouns are made: `begin` before a copy, `later` after it. @param stores settings of its stores */
export async function makeAll(t: Test, stores: NodeJS.ProcessEnv = {}) {
  const providers = await Providers.start(t);
  const own = { ...providers.environment, ORDINATE_DELIVERY_LOOPBACK: 'on', ...stores };
  const team = await makeTeam(t, TABLES, own);
  team.clock.at = providers.begins;
  await providers.say(`bing {"key": "${BING_KEY}"}`, team);
  const { catalog, settings, app, dataFolder } = team;
  const environment = { ...own, ORDINATE_DATA: dataFolder };
  const ask: Scene['ask'] = async (method, path, payload) => {
    team.clock.at += 1000;
    const { status, message, body } = await team.send('owner', method, path, payload);
    assert.ok(status < 300, `${method} ${path}: ${message}`);
    return body;
  };
  const making: Making = {
    ...{ catalog, settings, app, ask, run: runIn(environment), rows: rowsOf(catalog), status: statusOf(app) },
    receiver: (await startReceiver(t)).origin,
    load: team.load,
    read: async (path) => (await team.read(path)).body,
    connect: async () => {
      await providers.say('owner connects', team);
      return (await ask('GET', '/connect')).grants.at(-1).id;
    },
    sync: async (project) => {
      const { code, stderr } = await command(environment, 'sync', '--project', project);
      assert.equal(code, 0, stderr);
    },
  };
  const made: Made = {};
  return {
    ...{ environment: own, dataFolder, made, at: () => team.clock.at },
    begin: async () => {
      for (const noun of NOUNS) await noun.begin(making, made);
    },
    /** @param after called after each noun */
    later: async (after = (): void => {}) => {
      for (const noun of NOUNS) {
        await noun.later(making, made);
        after();
      }
    },
    end: async () => {
      await app.close();
      await catalog.close();
    },
  };
}
