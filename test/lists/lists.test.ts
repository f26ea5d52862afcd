// What is asked of lists, what the provider is asked for them, and what is answered: test/fixtures/lists.txt.
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { type Connection, connectionsOf, putConnection, removeConnection } from '../../server/catalog/connections.ts';
import { createKey } from '../../server/operations/keys.ts';
import { command, wordsOf } from '../command.ts';
import { dashboardOf } from '../dashboard/dashboard-of.ts';
import { DATASET, type FakeBigQuery, fakeBigQuery } from '../fakes/bigquery.ts';
import { type FakeBing, fakeBing } from '../fakes/bing.ts';
import { type ConnectedWorld, connect, connectedWorld, credentialsFile, SECRETS } from '../fakes/connected.ts';
import type { FakeRow } from '../fakes/search-console.ts';
import { FAILURES, type Failure, TOKEN_FAILURES } from '../fakes/search-console-failures.ts';
import { type SecondServer, startSecondServer } from '../fakes/second-server.ts';
import { withoutPauses } from '../fakes/without-pauses.ts';
import { duration } from '../recorded.ts';
import { narrowed, type Talking, talks, withoutTimes } from '../talks.ts';
import { type Answer, facts, PROJECT, type Row, temporaryFolder } from '../world.ts';

/** A request for data, or a line of the log; what is not known is not there. */
type Fields = Readonly<Record<string, string>>;

const parse = (text: string): Row => JSON.parse(text) as Row;

/** `url 3 40 2.5 deu; url …`, or so many rows with as many different numbers of clicks. */
function fakeRows(text: string): FakeRow[] {
  if (/^\d+$/.test(text))
    return Array.from({ length: Number(text) }, (_, at) => {
      return { key: `/${at}`, clicks: Number(text) - at, impressions: 2 * Number(text), position: 3 };
    });
  return text.split('; ').flatMap((row) => {
    const [, key, clicks, impressions, position, country] =
      /^(.+) (\d+) (\d+) ([\d.]+)(?: ([a-z]{3}))?$/.exec(row) ?? [];
    const numbers = { clicks: Number(clicks), impressions: Number(impressions), position: Number(position) };
    return key === undefined ? [] : [{ key, ...numbers, ...(country && { country }) }];
  });
}

/** `table column,column: value,value; …`; the last three values are clicks, impressions and the sum of positions. */
function factsOf(text: string): Record<string, Row[]> {
  const [, table, columns, rows] = /^(\w+) (\S+): (.*)$/.exec(text)!;
  const values = rows!
    .split('; ')
    .flatMap((row) => {
      const [, count = 1] = /\{(\d+)\}/.exec(row) ?? [];
      return Array.from({ length: Number(count) }, (_, at) => row.replace(/\{\d+\}/, String(at)));
    })
    .map((row) => row.split(',').map((value) => (/^\d+$/.test(value) ? Number(value) : value)));
  return { [table!]: values.flatMap((row) => facts(columns!.replaceAll(',', ' '), row)) };
}

/** A request for data in words. */
function requestText({ dimensionFilterGroups, ...request }: Readonly<Record<string, unknown>>): string {
  const { startDate, endDate, dimensions, aggregationType, type, ...more } = request as Fields;
  const { dataState, rowLimit, startRow, ...unknown } = more;
  const filters = ((dimensionFilterGroups ?? []) as { filters: Fields[] }[]).flatMap(({ filters: all }) =>
    all.map((one) => `; ${Object.values(one).join(' ')}`),
  );
  const what = `${String(dimensions)} of ${startDate} to ${endDate}, ${aggregationType} ${type} ${dataState}`;
  return `> ${what}, ${rowLimit} from ${startRow}${filters.join('')}${Object.keys(unknown).join()}`;
}

function answerText({ status, headers, body }: Answer): string[] {
  const { pages, queries, ...head } = body as { pages?: Row[]; queries?: Row[] } & Row;
  if (status !== 200) {
    const { code, message } = (body as { error: Fields }).error;
    const { 'retry-after': after } = headers as Fields;
    return [`${status} ${code}${after === undefined ? '' : `, retry after ${after}`}: ${message}`];
  }
  const rows = (pages ?? queries ?? []).map((row) => JSON.stringify(row));
  const shown = rows.length <= 12 ? rows : [rows[0], `${rows.length - 2} others`, rows.at(-1)];
  const { project: _, ...of } = head;
  return [`200 ${JSON.stringify(of)}`, ...shown.map((row) => `  ${row}`)].map((line) => line.replaceAll('.000Z', 'Z'));
}

/** A private key in JSON, without its quotes. */
const privateKey = (): string =>
  JSON.stringify(
    generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' }),
  ).slice(1, -1);

class Talk implements Talking {
  private readonly t: Test;
  private readonly world: ConnectedWorld;
  private other: Promise<SecondServer> | undefined;
  private warehouse: FakeBigQuery | undefined;
  private bing: Promise<FakeBing> | undefined;
  private guest: string | undefined;
  private isRestarted = false;
  private readonly folder: string;
  private seen = 0;

  private constructor(t: Test, world: ConnectedWorld) {
    this.t = t;
    this.folder = temporaryFolder(t);
    this.world = world;
  }

  static async begin(t: Test, steps: readonly string[]): Promise<Talk> {
    const given: Row = { project: {}, environment: {} };
    const tables: Record<string, Row[]> = {};
    for (const step of steps) {
      const [, word = '', rest = ''] = /^(\w+) (.*)$/.exec(step)!;
      if (word === 'facts')
        for (const [table, rows] of Object.entries(factsOf(rest))) tables[table] = (tables[table] ?? []).concat(rows);
      else if (word === 'rows') Object.assign(tables, parse(rest));
      else Object.assign(given, { [word]: parse(rest) });
    }
    const environment = {
      ORDINATE_PROVIDER_REQUESTS_PER_SECOND: '1000',
      ...(given['environment'] as NodeJS.ProcessEnv),
    };
    const world = await connectedWorld(t, { project: given['project'] as Row, environment, tables });
    return new Talk(t, world);
  }

  /** What a step says, below it. */
  async step(step: string): Promise<string[]> {
    const [, word, rest = ''] = /^(\S+) ?(.*)$/.exec(step)!;
    const { world } = this;
    const { google } = world;
    switch (word) {
      case 'pages':
      case 'queries':
        google[word] = fakeRows(rest);
        break;
      case 'pairs':
        google.rows = rest.split('; ').map((row) => {
          const [query = '', page = '', device = '', country = '', count] = row.split(' | ');
          const clicks = Number(count);
          return { query, page, device, country, date: '2026-02-10', clicks, impressions: 10 * clicks, position: 2 };
        });
        break;
      case 'facts':
        await world.load(factsOf(rest));
        break;
      case 'rows':
        await world.load(parse(rest) as never);
        break;
      case 'project':
        await world.load({ projects: [{ ...PROJECT, ...parse(rest) }] });
        break;
      case 'wait':
        world.clock += duration(rest);
        break;
      case 'now':
        world.clock = Date.parse(rest);
        break;
      case 'fails': {
        const [, times = 'Infinity', what = ''] = /^(?:(\d+) )?(.*)$/.exec(rest)!;
        const how = (what.startsWith('{') ? parse(what) : FAILURES[what as 'reset']) as Failure;
        google.failure = { how, times: Number(times) };
        break;
      }
      case 'token':
        google.tokenFailure = { how: TOKEN_FAILURES[rest as 'expiredGrant'], times: 1 };
        break;
      case 'works':
        google.failure = undefined;
        if (this.warehouse) this.warehouse.failure = undefined;
        break;
      case 'sites':
        google.sites = (rest === '' ? [] : rest.split('; ')).map((site) => {
          const [siteUrl = '', permissionLevel = ''] = site.split(' ');
          return { siteUrl, permissionLevel };
        });
        break;
      case 'file': {
        const [, name = '', content = ''] = /^(\S+) ?(.*)$/.exec(rest)!;
        const spaces = (_: string, count: string): string => ' '.repeat(Number(count));
        const written = content.replace(/^\{(\d+)\}$/, spaces).replace('PRIVATE_KEY', privateKey());
        writeFileSync(join(this.folder, name), written);
        break;
      }
      case 'pipe':
        execFileSync('mkfifo', [join(this.folder, rest)]);
        break;
      case 'bing': {
        this.bing ??= fakeBing(this.t, '2026-03-20');
        const bing = await this.bing;
        const [, what, times = 'Infinity', text = ''] = /^(\S+) ?(\d+ )?(.*)$/.exec(rest)!;
        if (what === 'site') bing.sites.push(parse(text) as unknown as FakeBing['sites'][number]);
        else {
          const how = parse(text.replace('SECRET', bing.key)) as { status: number; body: object };
          let left = Number(times);
          bing.intercept = () => (left-- > 0 ? how : undefined);
        }
        break;
      }
      case 'unknown': {
        const [connection] = await connectionsOf(world.catalog, 'Proj1');
        await putConnection(world.catalog, 'Proj1', { ...connection!, kind: 'another' }, 1);
        break;
      }
      case '$':
        return this.run(rest);
      case 'tokens':
        google.tokens.clear();
        break;
      case 'connect':
        await this.connect(parse(rest));
        break;
      case 'disconnect':
        await removeConnection(world.catalog, 'Proj1', rest);
        break;
      case 'restart':
        await world.app.close();
        this.isRestarted = true;
        break;
      case 'get':
        return this.answer(this.isRestarted ? this.second(rest) : world.ask(rest));
      case 'other':
        return this.answer(this.second(rest));
      case 'guest': {
        this.guest ??= (await createKey(world.catalog, { workspace: 'acme', name: 'guest', at: 0 })).key;
        return this.answer(world.get(`/projects/Proj1${rest}`, { authorization: `Bearer ${this.guest}` }));
      }
      case 'screen': {
        const ask = await dashboardOf(world);
        return this.answer(ask(`Proj1${rest}`));
      }
      default:
        return this.ofWarehouse(word!, rest);
    }
    return [];
  }

  private async second(path: string): Promise<Answer> {
    this.other ??= startSecondServer(this.t, this.world);
    return (await this.other).ask(path);
  }

  private async run(words: string): Promise<string[]> {
    const { google, dataFolder } = this.world;
    const bing = await this.bing;
    const ofBing: Record<string, string> = bing === undefined ? {} : { BING: bing.url, KEY_FILE: bing.keyFile };
    const known = { ...ofBing, CREDENTIALS: credentialsFile(this.t), FOLDER: this.folder };
    const places = { TOKENS: google.tokenUrl, PROVIDER: google.url, ...known };
    const put = Object.entries(places).reduce((text, [name, value]) => text.replace(name, value), words);
    const { code, stdout, stderr } = await command({ ORDINATE_DATA: dataFolder }, ...wordsOf(put));
    const stored = await this.world.catalog.statements.all('connections.all', { workspace: null });
    for (const secret of [...SECRETS, ...(bing ? [bing.key] : [])])
      this.t.notOk(`${stdout}${stderr}${JSON.stringify(stored)}`.includes(secret), secret);
    this.seen = google.requests.length;
    const told = Object.entries(places).reduce((text, [name, value]) => text.replaceAll(value, name), stdout + stderr);
    const lines = told.split('\n').filter((line) => line.trim() !== '');
    return [...lines.map((line) => narrowed(withoutTimes(line))), ...(code === 0 ? [] : [`= ${code}`])];
  }

  private async connect({ content, path, ...connection }: Row): Promise<void> {
    const { url, tokenUrl: tokenEndpoint } = this.world.google;
    const addresses = { endpoint: url + ((path as string | undefined) ?? ''), tokenEndpoint };
    const credentials = credentialsFile(this.t, content as object);
    await connect(this.world.catalog, { credentials, ...addresses, ...connection } as Partial<Connection>);
  }

  private async ofWarehouse(word: string, rest: string): Promise<string[]> {
    this.warehouse ??= await fakeBigQuery(this.t);
    const { warehouse } = this;
    if (word === 'warehouse') {
      const [location = '', dataset = DATASET] = rest.split(' ');
      await this.connect({ kind: 'bigquery', endpoint: warehouse.url, dataset, location: location || null });
    } else if (word === 'table') await warehouse.table(...(/^(\w+) (.*)$/.exec(rest)!.slice(1) as [string, string]));
    else if (word === 'sql') await warehouse.run(rest);
    else if (word === 'holds') warehouse.rows = rest === '' ? undefined : Number(rest);
    else if (word === 'refuses') {
      withoutPauses(this.t);
      warehouse.failure = rest === 'reset' ? 'reset' : (parse(rest) as never);
    } else if (word === 'asked') {
      const { query } = warehouse.jobs.at(-1)!.configuration;
      const { query: _, ...more } = query;
      return Object.entries(more).map(([name, value]) => `${name} ${JSON.stringify(value)}`);
    } else throw new Error(`There is no step '${word}'.`);
    return [];
  }

  /** An answer, with what the provider was asked for it and what the log says. */
  private async answer(asking: Promise<Answer>): Promise<string[]> {
    const answer = await asking;
    const { requests } = this.world.google;
    const sent = requests.slice(this.seen).map(requestText);
    const logs = [this.world.log, (await this.other)?.log ?? []];
    const lines = logs.flatMap((log) => log.splice(0)).map((line) => JSON.parse(line) as Fields);
    const told = lines
      .filter((line) => 'outcome' in line)
      .map(({ source, list, outcome, rows, reason, retries }) => {
        const more = [rows ? `${rows} rows` : '', retries ? 'tried again' : '', reason ?? ''];
        return [`log: ${source} ${list} ${outcome}`, ...more.filter((text) => text !== '')].join(', ');
      });
    this.seen = requests.length;
    const texts = [...answerText(answer), ...sent.sort(), ...told.sort()];
    return texts.map((text) =>
      text.replaceAll(/'[^' ]*credentials\.json'/g, 'FILE').replaceAll(/127.0.0.1:\d+/g, 'PROVIDER'),
    );
  }
}

talks('lists.txt', /^(project|environment|facts|rows) /, (t, steps) => Talk.begin(t, steps));
