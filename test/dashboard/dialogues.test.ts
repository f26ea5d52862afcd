// What people ask and change in the dashboard is answered, refused and remembered as the dialogues say.
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import t from 'tap';
import { command } from '../command.ts';
import { startReceiver } from '../fakes/receiver.ts';
import { SITE } from '../findings/site.ts';
import { fixture, isUpdated, readRecorded } from '../recorded.ts';
import { isLocal, localOnly } from '../stores.ts';
import { type Row, temporaryFolder } from '../world.ts';
import { makeTeam, type Who } from './team.ts';

/*
 * The lines of a dialogue:
 *   with NAME=VALUE                      a setting of the server
 *   given the site of findings           the rows of `test/findings/site.ts`
 *   given TABLE: column | column         rows of the world, which are the indented lines below
 *   == promise                           a test; the state goes on from one to the next
 *   who, who (header value) GET /path {} a request to `/app/api` as each of them; `api` has a key of the API, and `visitor`
 *                                        asks for whole addresses, with the cookies that it got
 *   $ words                              a command
 *   load TABLE [{}]                       rows of a later load
 *   + 6d                                 time passes
 * Answers are indented. Ids, versions and secrets are made by chance, and have names by kind in order of their appearance.
 * An answer that should change: UPDATE_RECORDED=1, and read what changed.
 */
const FOLDER = fixture('dialogues');
const EVERYBODY = ['stranger', 'other', 'key', 'member', 'admin', 'owner'] as const;
const UNITS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const WIDTH = 150;
/** Headers that visitors are shown. */
const SHOWN = /^(?:x-share-|x-robots|referrer|cache-control|set-cookie|retry-after)/;

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
    let shown = text;
    for (const [value, name] of this.#known) shown = shown.replaceAll(value, name);
    // Commands have the time of the machine.
    const today = new Date().toISOString().slice(0, 10);
    return shown
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (at) => (at.startsWith(today) ? 'just now' : at > today ? 'later' : at))
      .replaceAll(/"ord_live_\w{4}"/g, '"ord_live_…"')
      .replaceAll(/command line \(\w+\)/g, 'command line')
      .replaceAll(/\d+\.\d s\b/g, 'a moment');
  }

  secrets(): string[] {
    return [...this.#known].filter(([, name]) => /-token-|whsec-/.test(name)).map(([value]) => value);
  }

  put(text: string): string {
    const back = [...this.#known].sort(([, a], [, b]) => b.length - a.length);
    return back.reduce((all, [value, name]) => all.replaceAll(new RegExp(`\\b${name}\\b`, 'g'), value), text);
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

const headless = <Of extends object>(answer: Of) => ({ ...answer, headers: '' });

/** Words of a command: those with spaces have quotes. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!);

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
};

/** The settings and rows before the first promise. */
function givenOf(lines: readonly string[]) {
  const settings: Record<string, string> = {};
  const tables: Record<string, Row[]> = {};
  let [table, columns] = ['', [] as string[]];
  for (const line of lines) {
    const [, name, value] = /^with (\w+)=(.*)$/.exec(line) ?? [];
    if (name !== undefined) settings[name] = value!;
    const [, given, heading] = /^given (\w+): (.*)$/.exec(line) ?? [];
    if (given !== undefined) [table, columns] = [given, heading!.split(' | ')];
    if (!line.startsWith('  ')) continue;
    const cells = line
      .slice(2)
      .split(' | ')
      .map((cell) => parsed(cell.trim()));
    const row = Object.fromEntries(columns.map((column, at) => [column, cells[at]]));
    tables[table] = [
      ...(tables[table] ?? []),
      { ...(columns.includes('project_id') ? {} : { project_id: 'Proj1' }), ...row },
    ];
  }
  return { settings, tables };
}

for (const file of globSync('*.txt', { cwd: FOLDER }).sort()) {
  t.test(basename(file, '.txt'), async (t) => {
    // A dialogue without settings and rows begins with a promise.
    const [head = '', ...scenes] = `\n${readRecorded(join('dialogues', file))}`.split(/(?<=\n)(?=== )/);
    const { settings, tables } = givenOf(head.split('\n'));
    const secrets = { ORDINATE_SECRETS_KEY_FILE: join(temporaryFolder(t), 'secrets.key') };
    const team = await makeTeam(t, head.startsWith('\ngiven the site of findings') ? SITE : tables, {
      ...secrets,
      ...settings,
    });
    const names = new Names(Object.values(tables).flatMap((rows) => rows.map(({ id }) => String(id))));
    for (const _ of new Set(scenes.join('').match(/receiver-\d/g)))
      names.add((await startReceiver(t)).origin, 'receiver');
    if (scenes.join('').includes('folder-1')) names.add(join(temporaryFolder(t), 'folder'), 'folder');
    const jar = new Map<string, string>();

    const visit = async (method: 'GET', url: string, headers: Record<string, string>, body: string | undefined) => {
      const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
      const json = body === undefined ? {} : { 'content-type': 'application/json' };
      const sent = {
        host: 'localhost',
        'sec-fetch-site': 'same-origin',
        ...json,
        ...(cookie && { cookie }),
        ...headers,
      };
      const answer = await team.app.inject({
        method,
        url,
        headers: sent,
        ...(body === undefined ? {} : { payload: body }),
      });
      for (const { name, value } of answer.cookies) jar.set(name, value);
      const type = String(answer.headers['content-type']);
      const shown = Object.entries(answer.headers).filter(([name]) => SHOWN.test(name));
      const told = shown.map(([name, value]) => `${name}: ${String(value).replace(/=[^;]{20,}/, '=…')}`).join('; ');
      return {
        status: answer.statusCode,
        headers: told,
        body: type.includes('json') ? JSON.parse(answer.body) : type.includes('csv') ? answer.body : null,
      };
    };
    const answerOf = async (
      who: string,
      method: 'GET',
      path: string,
      headers: Record<string, string>,
      body?: string,
    ) => {
      if (who === 'visitor') return visit(method, path, headers, body);
      if (who === 'api')
        return headless(
          await visit(method, `/api/v1${path}`, { authorization: `Bearer ${team.key}`, ...headers }, body),
        );
      return team.send(
        who as Who,
        method,
        path,
        body,
        body === undefined ? headers : { 'content-type': 'application/json', ...headers },
      );
    };

    const ask = async (line: string): Promise<string[]> => {
      const parts = /^([\w, ]+?)(?: \((.*)\))? (GET|POST|PUT|PATCH|DELETE) (\S+)(?: (.*))?$/.exec(names.put(line));
      if (parts === null) throw new Error(`${file}: '${line}' is no request`);
      const [, who = '', more = '', method = '', path = '', body] = parts;
      const headers = Object.fromEntries(
        more
          .split('; ')
          .filter(Boolean)
          .map((one) => one.split(/ (.*)/).slice(0, 2)),
      );
      const kind = /([a-z-]+?)s?(?:\/[^a-z][^/]*)?$/.exec(path.split('?')[0]!)?.[1] ?? 'id';
      const shown: [string[], string][] = [];
      for (const one of who === 'everybody' ? EVERYBODY : who.split(', ')) {
        // What happens later comes later in lists.
        team.clock.at += 1000;
        const { status, headers: told, body: found } = await answerOf(one, method as 'GET', path, headers, body);
        const error = (found as { error?: { code: string; message: string } } | null)?.error;
        const named = names.hide(JSON.stringify(found), kind);
        const text = error
          ? `${error.code}: ${names.hide(error.message, kind)}`
          : typeof found === 'string'
            ? found.trimEnd().replaceAll('\r\n', '\n    ')
            : written(JSON.parse(named));
        // The name of a file.
        const { 'content-disposition': disposition } = (typeof told === 'string' ? {} : told) as Record<string, string>;
        const answer = `${status}${disposition === undefined ? '' : ` (${disposition})`}${typeof told === 'string' && told !== '' ? ` (${names.hide(told, kind)})` : ''}${found === null ? '' : ` ${text}`}`;
        const last = shown.at(-1);
        if (last?.[1] === answer) last[0].push(one);
        else shown.push([[one], answer]);
      }
      return shown.map(([asking, answer]) =>
        shown.length === 1 ? `  ${answer}` : `  ${asking.join(', ')}: ${answer}`,
      );
    };
    const run = async (line: string): Promise<string[]> => {
      const { code, stdout, stderr } = await command(
        { ORDINATE_DATA: team.dataFolder, ...secrets, ...settings },
        ...wordsOf(names.put(line)),
      );
      const kind = wordsOf(line)[0]!.replace(/s$/, '');
      return names
        .hide(`${code} ${stdout}${stderr}`, kind)
        .trimEnd()
        .split('\n')
        .map((one) => `  ${one}`);
    };
    const pass = (line: string): void => {
      const [, count, unit] = /^(\d+)([smhd])$/.exec(line)!;
      team.clock.at += Number(count) * UNITS[unit as 's'];
    };

    const found = [...scenes];
    for (const [at, scene] of scenes.entries()) {
      const [promise = '', ...lines] = scene.split('\n');
      await t.test(promise.slice(3), async (t) => {
        const said = [promise];
        for (const line of lines.filter((one) => !one.startsWith('  '))) {
          said.push(line);
          // Only a catalog in a file is rebuilt.
          if (line === '$ rebuild' && !isLocal) said.push(lines[lines.indexOf(line) + 1]!);
          else if (line.startsWith('+ ')) pass(line.slice(2));
          else if (line.startsWith('load ')) {
            const [, table = '', row = ''] = /^load (\w+) (.*)$/.exec(names.put(line))!;
            await team.load({ [table]: (parsed(row) as Row[]).map((one) => ({ project_id: 'Proj1', ...one })) });
          } else if (line.startsWith('$ ')) said.push(...(await run(line.slice(2))));
          else if (line !== '' && !line.startsWith('#')) said.push(...(await ask(line)));
        }
        found[at] = said.join('\n');
        if (!isUpdated) t.equal(said.join('\n'), scene);
      });
    }
    await t.test('no secret is in the log, or in a file of the server', localOnly, async (t) => {
      const written = [team.log.join('')];
      for (const one of globSync('**/*', { cwd: team.dataFolder, withFileTypes: true }).filter((each) => each.isFile()))
        written.push(readFileSync(join(one.parentPath, one.name), 'latin1'));
      for (const secret of [...names.secrets(), 'open sesame']) {
        const parts = [secret, Buffer.from(secret).toString('base64url')];
        t.notOk(parts.some((part) => written.some((text) => text.includes(part))));
      }
    });
    if (isUpdated) writeFileSync(join(FOLDER, file), [head, ...found].join('').slice(1));
  });
}
