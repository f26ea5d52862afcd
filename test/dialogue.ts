import { globSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { putBulkExportDays, putSyncDays, putSyncKeywords, type SyncDay } from '../server/catalog/sync-days.ts';
import type { FactTable } from '../server/model/tables.ts';
import { command, wordsOf } from './command.ts';
import { Pages } from './dashboard/dialogue-pages.ts';
import { Providers } from './dashboard/providers.ts';
import { makeTeam, type Who } from './dashboard/team.ts';
import { EFFECT_WORLD } from './effects/world.ts';
import { startReceiver } from './fakes/receiver.ts';
import { SITE } from './findings/site.ts';
import { readArrow, readParquet } from './formats/read.ts';
import { filesWith, spellingsOf } from './hidden.ts';
import { duration, fixture, isUpdated, readRecorded, withLetters } from './recorded.ts';
import { parsed, tablesIn } from './rows.ts';
import { localOnly } from './stores.ts';
import { syncDay } from './sync-day.ts';
import { type Row, type Tables, temporaryFolder } from './world.ts';

/*
 * The lines of a dialogue:
 *   with NAME=VALUE                      a setting of the server
 *   showing PATTERN                      headers of answers of the API that are shown
 *   with the providers                   Google and Bing, and their lines in `test/dashboard/providers.ts`
 *   given the site of findings           the rows of `test/findings/site.ts`, or those of effects
 *   given TABLE: column | column         rows of the world, as test/rows.ts reads them
 *   # text                               a comment
 *   == promise                           a test; the state goes on from one to the next
 *   who, who (header value) GET /path {} a request to `/app/api` as each of them, or as `everybody`; `api` has a key of the API,
 *                                        and `visitor` asks for whole addresses, with the cookies that it got; `from` is an address
 *   20 times who GET /path               how many of them get which status
 *   agent (header value) TOOL {}         a call of a tool of the MCP server
 *   who opens /path                      the page at an address, in the browser of each; then what they do there:
 *   who presses NAME [in PART] [twice]   a button or link; PART has that label, text or .class
 *   who ticks NAME [in PART]             a box
 *   who types LABEL: text [in PART]
 *   who chooses LABEL: option [in PART]
 *   who sees PART                        what a part of the page shows, or the screen
 *   who keeps                            what their browser has stored
 *   who's network is up, down or lossy   lossy: answers are lost
 *   $ words                              a command; its answer begins with the exit code
 *   load TABLE [{}]                      rows of a later load, and why it is refused
 *   synced TABLE DAY {}                  what the sync knows of a day
 *   tracked [{}]                         the days that the sync has of keywords
 *   exported TABLE FROM..TO, …           the days of a table that came from a bulk export
 *   + 6d                                 time passes
 * `{x*300}` stands for that many letters; `receiver-1` is a server that takes deliveries, and `folder-1` a new folder.
 * Answers are indented; those of pages say what an action sends (>), where it leads (@), and which lines of the page it takes
 * away (-) and adds (+). Ids, versions, tags and secrets are made by chance, and have names by kind in order of their appearance.
 * An answer that should change: UPDATE_RECORDED=1, and read what changed.
 */
const EVERYBODY = ['stranger', 'other', 'key', 'member', 'admin', 'owner'] as const;
const WIDTH = 150;
const SITES: Readonly<Record<string, Tables>> = { findings: SITE, effects: EFFECT_WORLD };
/** Headers that visitors are shown. */
const SHOWN = /^(?:x-share-|x-robots|referrer|cache-control|set-cookie|retry-after)/;

/** Commands have the time of the machine: what they did, and what ends minutes from now or later. */
function byMachine(at: string): string {
  // Not `Date`, whose clock is stopped where there are providers.
  const ahead = Date.parse(at) - (performance.timeOrigin + performance.now());
  if (ahead > duration('5m')) return 'later';
  return ahead > -duration('1d') ? 'just now' : at;
}

/** Names instead of what chance makes, and back. */
class Names {
  readonly #known = new Map<string, string>();
  readonly #counts = new Map<string, number>();
  readonly #given: ReadonlySet<string>;

  /** Ids of the world are their names. */
  constructor(given: readonly string[]) {
    this.#given = new Set(['Proj1', 'Proj2', 'Other', 'acme', 'other', ...given]);
  }

  add(value: string, kind: string): void {
    if (this.#known.has(value) || this.#given.has(value)) return;
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    this.#known.set(value, `${kind}-${count}`);
  }

  /** An answer with names; `kind` is that of the ids in it. */
  hide(text: string, kind: string): string {
    for (const [, id = ''] of text.matchAll(/"(?:id|subject)":"([\w-]{5,36})"/g)) this.add(id, kind);
    for (const [secret, of = ''] of text.matchAll(/\b(?:ord_(\w+?)_\w{32}|whsec_[\w+/=-]+)/g))
      this.add(secret, of === '' ? 'whsec' : `${of}-token`);
    for (const [uuid] of text.matchAll(/[0-9a-f]{8}-[0-9a-f]{4}-[47][0-9a-f]{3}-[-0-9a-f]{17}/g)) this.add(uuid, kind);
    for (const [version] of text.matchAll(/\b[0-9a-f]{32}\b/g)) this.add(version, 'version');
    for (const [, tag = ''] of text.matchAll(/W\/"([\w-]{27})"/g)) this.add(tag, 'etag');
    let shown = text;
    for (const [value, name] of this.#known) shown = shown.replaceAll(value, name);
    return (
      shown
        .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, byMachine)
        .replaceAll(/\bord_live_\w{4}(?="|…)…?/g, 'ord_live_…')
        // Uses are written a second later by the clock of the machine.
        .replaceAll(/(?<="lastUsedAt":)"20[^"]*"/g, 'null')
        .replaceAll(/command line \(\w+\)/g, 'command line')
        .replaceAll(/\d+\.\d s\b/g, 'a moment')
    );
  }

  secrets(): string[] {
    return [...this.#known].filter(([, name]) => /-token-|whsec-/.test(name)).map(([value]) => value);
  }

  put(text: string): string {
    const back = [...this.#known].sort(([, a], [, b]) => b.length - a.length);
    return back.reduce(
      (all, [value, name]) => all.replaceAll(new RegExp(`\\b${name}\\b`, 'g'), value),
      withLetters(text),
    );
  }
}

const inLine = (value: unknown): string => {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(inLine).join(', ')}]`;
  return `{${Object.entries(value)
    .map(([name, one]) => `${name}: ${inLine(one)}`)
    .join(', ')}}`;
};

/** A value in a line, or in several where it is long: those of a list below each other, short fields beside each other. */
function written(value: unknown, indent = '  '): string {
  const line = inLine(value);
  if (typeof value !== 'object' || value === null || line.length + indent.length <= WIDTH) return line;
  const inner = `${indent}  `;
  if (Array.isArray(value)) return `[\n${value.map((one) => `${inner}${written(one, inner)}\n`).join('')}${indent}]`;
  const lines: string[] = [];
  for (const [name, one] of Object.entries(value)) {
    const field = `${name}: ${written(one, inner)}`;
    const last = lines.at(-1);
    const isLong =
      last === undefined || field.includes('\n') || last.includes('\n') || last.length + field.length > 120;
    if (isLong) lines.push(field);
    else lines[lines.length - 1] = `${last}, ${field}`;
  }
  return `{\n${lines.map((each) => `${inner}${each}\n`).join('')}${indent}}`;
}

/** Headers as `name value; name value`. */
const headersOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .split('; ')
      .filter(Boolean)
      .map((one) => one.split(/ (.*)/).slice(0, 2) as [string, string]),
  );

interface Answered {
  readonly status: number;
  /** The headers that are shown. */
  readonly headers: string;
  readonly body: unknown;
}

/** The body of an answer as values, or as the text that it is. */
async function bodyOf(type: string, body: string, bytes: Buffer): Promise<unknown> {
  if (body === '') return null;
  if (type.includes('ndjson') || type.includes('csv')) return body;
  if (type.includes('json')) return JSON.parse(body);
  if (!/arrow|parquet/.test(type)) return null;
  const { types, rows } = type.includes('arrow') ? readArrow(bytes) : await readParquet(bytes);
  return { columns: Object.entries(types).map((column) => column.join(' ')), rows };
}

type Team = Awaited<ReturnType<typeof makeTeam>>;

class Dialogue {
  private readonly team: Team;
  private readonly names: Names;
  private readonly environment: NodeJS.ProcessEnv;
  private readonly showing: RegExp;
  private readonly pages: Pages;
  private readonly providers: Providers | undefined;
  private readonly jar = new Map<string, string>();

  /** @param environment what commands get */
  constructor(
    t: Test,
    team: Team,
    names: Names,
    environment: NodeJS.ProcessEnv,
    { showing, providers }: { showing: RegExp; providers: Providers | undefined },
  ) {
    this.providers = providers;
    this.pages = new Pages(t, team, names);
    this.team = team;
    this.names = names;
    this.environment = environment;
    this.showing = showing;
  }

  /** A line, and what is answered to it. */
  async say(line: string): Promise<string[]> {
    const [, count, request] = /^(\d+) times (.*)$/.exec(line) ?? [];
    if (request !== undefined) return this.repeat(Number(count), request);
    const answered = await this.providers?.say(this.names.put(line), this.team);
    if (answered !== undefined) return answered.map((one) => this.names.hide(one, 'grant'));
    const [, words] = /^\$ (.*)$/.exec(line) ?? [];
    if (words !== undefined) return this.run(words);
    const [, more = '', tool, given = '{}'] = /^agent (?:\((.*?)\) )?(\w+)(?: (.*))?$/.exec(this.names.put(line)) ?? [];
    if (tool !== undefined) return this.call(tool, given, headersOf(more));
    const [, time] = /^\+ (.*)$/.exec(line) ?? [];
    if (time !== undefined) {
      this.team.clock.at += duration(time);
      return [];
    }
    const known = /^(load|synced|tracked|exported) (.*)$/.exec(this.names.put(line));
    if (known === null) return (await this.pages.say(line)) ?? this.ask(line);
    try {
      await this.happen(known[1]!, known[2]!);
      return [];
    } catch (error) {
      return [`  refused: ${(error as Error).message.replaceAll('\n', '\n    ')}`];
    }
  }

  private async happen(what: string, line: string): Promise<void> {
    const [, name = '', rest = ''] = /^(\S+) ?(.*)$/.exec(line)!;
    if (what === 'load') {
      const more = name === 'workspaces' || name === 'projects' ? {} : { project_id: 'Proj1' };
      await this.team.load({ [name]: (parsed(rest) as Row[]).map((one) => ({ ...more, ...one })) });
    } else if (what === 'tracked') {
      await putSyncKeywords(this.team.catalog, 'Proj1', parsed(line) as Parameters<typeof putSyncKeywords>[2]);
    } else if (what === 'exported') {
      const ranges = rest.split(', ').map((one) => ({ from: one.slice(0, 10), to: one.slice(12) }));
      const table = name as FactTable;
      await this.team.catalog.transaction((tx) => putBulkExportDays(tx, { project: 'Proj1', table, ranges }));
    } else {
      const [, day = '', more = '{}'] = /^(\S+) ?(.*)$/.exec(rest)!;
      const known = syncDay(name as SyncDay['table'], day, parsed(more || '{}') as object);
      await putSyncDays(this.team.catalog, 'Proj1', [known]);
    }
  }

  private async visit(
    method: string,
    url: string,
    { from, ...headers }: Record<string, string>,
    body?: string,
    shown = new RegExp(`${SHOWN.source}|${this.showing.source}`),
  ): Promise<Answered> {
    const cookie = [...this.jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await this.team.app.inject({
      method: method as 'GET',
      url,
      headers: {
        host: 'localhost',
        'sec-fetch-site': 'same-origin',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(cookie && { cookie }),
        ...headers,
      },
      ...(from === undefined ? {} : { remoteAddress: from }),
      ...(body === undefined ? {} : { payload: body }),
    });
    for (const { name, value } of answer.cookies) this.jar.set(name, value);
    const told = Object.entries(answer.headers)
      .filter(([name]) => shown.test(name))
      .map(([name, value]) => `${name}: ${String(value).replace(/=[^;]{20,}/, '=…')}`)
      .join('; ');
    const type = String(answer.headers['content-type']);
    return { status: answer.statusCode, headers: told, body: await bodyOf(type, answer.body, answer.rawPayload) };
  }

  private async answer(who: string, method: string, path: string, more: Record<string, string>, body?: string) {
    if (who === 'visitor') return this.visit(method, path, more, body);
    if (who === 'api') {
      const url = `/api/v1${path.replaceAll(/[^\w%?=&./:;,+-]/gu, encodeURIComponent)}`;
      return this.visit(method, url, { authorization: `Bearer ${this.team.key}`, ...more }, body, this.showing);
    }
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    const sent = await this.team.send(who as Who, method as 'GET', path, body, { ...type, ...more });
    const file = sent.headers['content-disposition'];
    return { ...sent, headers: file === undefined ? '' : String(file) };
  }

  /** The parts of a request. */
  private read(line: string) {
    const parts = /^([\w, ]+?)(?: \((.*)\))? ([A-Z]{3,}) (\S+)(?: (.*))?$/.exec(this.names.put(line));
    if (parts === null) throw new Error(`'${line}' is no request`);
    const [, who = '', more = '', method = '', path = '', body] = parts;
    const all = who === 'everybody' ? EVERYBODY : who.split(', ');
    const unknown = all.find((one) => !/^(?:api|visitor)$/.test(one) && !EVERYBODY.some((known) => known === one));
    if (unknown !== undefined) throw new Error(`'${line}': nobody is called '${unknown}'`);
    return { all, headers: headersOf(more), method, path, body };
  }

  private async ask(line: string): Promise<string[]> {
    const { all, headers, method, path, body } = this.read(line);
    const kind = /([a-z-]+?)s?(?:\/[^a-z][^/]*)?$/.exec(path.split('?')[0]!)?.[1] ?? 'id';
    const shown: [string[], string][] = [];
    for (const one of all) {
      // What happens later comes later in lists.
      this.team.clock.at += 1000;
      const { status, headers: told, body: found } = await this.answer(one, method, path, headers, body);
      const beside = told === '' ? '' : ` (${this.names.hide(told, kind)})`;
      const answer = `${status}${beside}${found === null ? '' : ` ${this.shown(found, kind)}`}${await this.nearest(found, path, body)}`;
      const last = shown.at(-1);
      if (last?.[1] === answer) last[0].push(one);
      else shown.push([[one], answer]);
    }
    return shown.map(([asking, answer]) => (shown.length === 1 ? `  ${answer}` : `  ${asking.join(', ')}: ${answer}`));
  }

  /** How the nearest questions of a refused one are answered. */
  private async nearest(found: unknown, path: string, question: string | undefined): Promise<string> {
    const { nearest = [] } = (found ?? {}) as { nearest?: object[] };
    const statuses: number[] = [];
    if (question === undefined) return '';
    for (const parts of nearest) {
      const all = Object.entries({ ...(parsed(question) as object), ...parts }).filter(([, part]) => part !== null);
      const next = JSON.stringify(Object.fromEntries(all));
      statuses.push((await this.answer('api', 'POST', path, {}, next)).status);
    }
    return statuses.length === 0 ? '' : `, which are answered: ${statuses.join(', ')}`;
  }

  private shown(found: unknown, kind: string): string {
    const { error, ...rest } = found as { error?: { code: string; message: string } };
    if (typeof found === 'string') return found.trimEnd().replaceAll(/\r?\n/g, '\n    ');
    if (error?.code === undefined) return written(JSON.parse(this.names.hide(JSON.stringify(found), kind)));
    const beside = Object.keys(rest).length === 0 ? '' : ` ${written(rest)}`;
    return `${error.code}: ${this.names.hide(error.message, kind)}${beside}`;
  }

  private async repeat(count: number, line: string): Promise<string[]> {
    const { all, headers, method, path, body } = this.read(line);
    this.team.clock.at += 1000;
    const counts = new Map<number, number>();
    for (let sent = 0; sent < count; sent++) {
      const { status } = await this.answer(all[0]!, method, path, headers, body);
      counts.set(status, (counts.get(status) ?? 0) + 1);
    }
    return [`  ${[...counts].map(([status, times]) => `${times} times ${status}`).join(', ')}`];
  }

  private async call(name: string, given: string, more: Record<string, string>): Promise<string[]> {
    this.team.clock.at += 1000;
    const { body } = await this.team.app.inject({
      method: 'POST',
      url: '/mcp',
      headers: { 'x-api-key': this.team.key, accept: 'application/json, text/event-stream', ...more },
      payload: {
        ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
        params: { name, arguments: JSON.parse(given) as object },
      },
    });
    const { result } = JSON.parse(/^data: (.*)$/m.exec(body)?.[1] ?? body) as {
      result: { isError?: boolean; content: { text: string }[] };
    };
    return [`  ${result.isError ? 'refused ' : ''}${this.shown(JSON.parse(result.content[0]!.text), name)}`];
  }

  private async run(words: string): Promise<string[]> {
    const environment = { ORDINATE_DATA: this.team.dataFolder, ...this.environment };
    const { code, stdout, stderr } = await command(environment, ...wordsOf(this.names.put(words)));
    // As of another process, which has none of this one's turns.
    await nextTurn();
    const kind = wordsOf(words)[0]!.replace(/s$/, '');
    const said = this.providers?.withoutChance(`${code} ${stdout}${stderr}`) ?? `${code} ${stdout}${stderr}`;
    const lines = this.names.hide(said, kind).trimEnd().split('\n');
    return lines.map((one) => `  ${one}`);
  }
}

/** Runs a dialogue: a folder and name of `test/fixtures`. */
async function runDialogue(t: Test, file: string): Promise<void> {
  // A dialogue without settings and rows begins with a promise.
  const [head = '', ...scenes] = `\n${readRecorded(file)}`.split(/(?<=\n)(?=== )/);
  const odd = head
    .split('\n')
    .find((line) => !/^(?:$|#| {2}|given |with \w+=|with the providers$|showing )/.test(line));
  if (odd !== undefined) throw new Error(`${file}: '${odd}' is not a line of the set-up`);
  const [, site = ''] = /^given the site of (\w+)$/m.exec(head) ?? [];
  const tables = { ...SITES[site], ...tablesIn(head.split('\n')) };
  const settings = Object.fromEntries(
    [...head.matchAll(/^with (\w+)=(.*)$/gm)].map(([, name, value]) => [name!, value!]),
  );
  const providers = /^with the providers$/m.test(head) ? await Providers.start(t) : undefined;
  const secretsKey = { ORDINATE_SECRETS_KEY_FILE: join(temporaryFolder(t), 'secrets.key') };
  const environment = { ...secretsKey, ...providers?.environment, ...settings };
  const team = await makeTeam(t, tables, environment);
  if (providers !== undefined) team.clock.at = providers.begins;
  const names = new Names(Object.values(tables).flatMap((rows) => rows.map(({ id }) => String(id))));
  for (const [value, kind] of providers?.names() ?? []) names.add(value, kind);
  const text = scenes.join('');
  for (const _ of new Set(text.match(/receiver-\d/g))) names.add((await startReceiver(t)).origin, 'receiver');
  if (text.includes('folder-1')) names.add(join(temporaryFolder(t), 'folder'), 'folder');
  const showing = /^showing (.*)$/m.exec(head)?.[1];
  const dialogue = new Dialogue(t, team, names, environment, {
    showing: new RegExp(`^(?:${showing ?? '$'})`),
    providers,
  });

  const found = [...scenes];
  for (const [at, scene] of scenes.entries()) {
    const [promise = '', ...lines] = scene.split('\n');
    await t.test(promise.slice(3), async (t) => {
      const said = [promise];
      for (const line of lines.filter((one) => !one.startsWith('  '))) {
        said.push(line);
        if (line !== '' && !line.startsWith('#')) said.push(...(await dialogue.say(line)));
      }
      found[at] = said.join('\n');
      if (!isUpdated) t.equal(said.join('\n'), scene);
    });
  }
  await t.test('no secret is in the log, or in a file of the server', localOnly, async (t) => {
    const secrets = [...names.secrets(), ...(providers?.secrets() ?? []), 'open sesame'];
    // What is answered; a page may send a secret.
    const answers = found.flatMap((scene) => scene.split('\n')).filter((line) => /^ {2}(?!>)/.test(line));
    const told = [...team.log, ...answers].join('\n');
    t.strictSame(
      secrets.filter((secret) => spellingsOf(secret).some((text) => told.includes(text))),
      [],
    );
    t.strictSame(filesWith([team.dataFolder], secrets), []);
  });
  if (isUpdated) writeFileSync(fixture(file), [head, ...found].join('').slice(1));
}

/** Runs the dialogues of a folder of `test/fixtures`. */
export function dialogues(folder: string): void {
  for (const file of globSync('*.txt', { cwd: fixture(folder) }).sort())
    t.test(basename(file, '.txt'), (t) => runDialogue(t, join(folder, file)));
}
