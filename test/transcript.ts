import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { gzipSync } from 'node:zlib';
import { zipSync } from 'fflate';
import t, { type Test } from 'tap';
import { putSyncDays } from '../server/catalog/sync-days.ts';
import { command, wordsOf } from './command.ts';
import { restoreClock, setClock } from './fakes/fake-clock.ts';
import { duckdb, quoted, writeParquet, writeParquetRows } from './parquet.ts';
import { fixture, isUpdated, readRecorded, withLetters } from './recorded.ts';
import { syncDay } from './sync-day.ts';
import { type LazyWorld, makeLazyWorld, temporaryFolder } from './world.ts';

// A transcript is a text: what somebody gives, which commands run, what they print, and which stored rows they change.
//
//   # The promise                     a case, in a world without projects; `# The promise | Proj1` has one, of the property below
//   --- path/in/the/folder.csv        a file, here of the two lines below. `export.zip/a.csv` is in an archive, `a.parquet`
//   Date,Clicks                       has the rows below, or those that a `select` gives; `latin1` or `utf16le` may follow the path
//   2026-03-{01..20},1                twenty lines; {x*20} stands for twenty letters, \u0041 and \r for one, and a \ at the end of a
//                                     line joins it to the next
//   $ import search-console .         a command in the folder of the files; an import gets the workspace and the property
//   $ load . as ndjson                the same CSV files in another format: csv.gz, jsonl, ndjson or parquet
//   $ get PATH                        asks the API about the project
//   $ clock TIME                      sets the clock of the commands below
//   $ fetched TABLE STATE DAY …       days that a sync has fetched
//   $ sh LINE                         a line of shell in the folder of the files; the data folder beside it is ../data
//   $ sql STATEMENT                   changes or reads the catalog behind the back of the product
//   $ in ../restored                  the commands below use another data folder; prints how its rows differ
//   $ catalog WHAT                    the catalog is `lost`, `empty`, `blank` (without tables), `kept` for later, or the `older` one
//   | exit 1                          the exit code, unless it is 0; then all that is printed; then each row that is added (+)
//   | + site_daily Proj1: …           to the exported snapshot or taken from it (-)
//
// What differs between runs is printed by a name: {time}, {size}, {now}, {id}. {moment 1} is the name of the first backup or
// folder of the trash, which commands may use, and {instant 1} its time.
// UPDATE_RECORDED=1 writes what is printed; read the diff.
const PROPERTY = 'sc-domain:shop.example';

/** Commands that change nothing of what is stored. */
const READS = /^(backup|describe|restore|verify(?!.*--repair))\b/;
/** Progress; which of these lines are printed depends on the machine. */
const PROGRESS =
  /^(looking (at|for) |(copying|reading|restoring) the (catalog|journal)|(comparing|restoring) files|dropping old facts|waiting for )/;
/** The name of a backup, or of a folder of the trash. */
const MOMENT = /20\d\d-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z/g;

/** What is in the folder of a command. */
type Files = readonly (readonly [path: string, text: string])[];

/** Runs the cases of `test/fixtures/NAME.txt`. */
export function transcripts(name: string): void {
  const cases = readRecorded(`${name}.txt`).split(/^(?=# )/m);
  // Cases that do not run stay as they are.
  const written = [...cases];
  for (const [at, text] of cases.entries()) {
    const [title = ''] = text.slice(2).split('\n', 1);
    t.test(title, async (t) => {
      const [, project] = title.split(' | ');
      const world = await makeLazyWorld(t, project === undefined ? { projects: [] } : {});
      const run = new Run(t, world, text);
      const found = await run.all();
      written[at] = found;
      if (!isUpdated) t.equal(found, text);
    });
  }
  t.teardown(() => {
    if (isUpdated) writeFileSync(fixture(`${name}.txt`), written.join(''));
  });
}

/** The rows of a world with and without a project, before all commands. */
const begun = new Map<boolean, readonly string[]>();

class Run {
  private readonly t: Test;
  private readonly world: LazyWorld;
  private readonly text: string;
  private files: Files = [];
  /** The folder in which they were written; a new one after the next files. */
  private folder: string | undefined;
  private stored: readonly string[] = [];
  private readonly names = new Map<string, string>();
  /** Names of files that are moments, in the order in which they were printed. */
  private readonly moments: string[] = [];
  private data: string;
  /** Whether `stored` is what is stored now. */
  private isKnown = false;

  /** @param text the case */
  constructor(t: Test, world: LazyWorld, text: string) {
    this.t = t;
    this.world = world;
    this.text = text;
    this.data = world.dataFolder;
  }

  /** The text with what is printed now. */
  async all(): Promise<string> {
    const hasProject = /^# .* \| /.test(this.text);
    const first = begun.get(hasProject);
    if (first === undefined) await this.export();
    this.stored = first ?? this.stored;
    begun.set(hasProject, this.stored);
    const out: string[] = [];
    let given: [string, string][] = [];
    for (const line of this.text.replace(/\n$/, '').split('\n')) {
      if (line.startsWith('|')) continue;
      out.push(line);
      if (line.startsWith('--- ')) given.push([line.slice(4), '']);
      else if (line.startsWith('$ ')) {
        if (given.length > 0) {
          this.files = given;
          this.folder = undefined;
        }
        given = [];
        out.push(...(await this.step(line.slice(2))).map((one) => `| ${one}`.trimEnd()));
      } else if (given.length > 0) given.at(-1)![1] += `${line}\n`;
      else if (line !== '' && !line.startsWith('#')) throw new Error(`'${line}' is not a step: steps begin with '$ '`);
    }
    // What refused commands and dry runs have stored all the same.
    if (!this.isKnown) this.t.strictSame(await this.changes(), []);
    return `${out.join('\n')}\n`;
  }

  private async step(words: string): Promise<string[]> {
    const [verb = '', ...rest] = words.split(' ');
    if (verb === 'get') return this.asked(rest[0]!);
    if (verb === 'fetched') return this.fetched(rest);
    if (verb === 'clock') return this.clock(rest[0]!);
    if (verb === 'catalog') return this.catalog(rest[0]!);
    if (verb === 'sql') return this.sql(words.slice(4));
    if (verb === 'in') return this.moved(rest[0]!);
    const [as, format] = rest.slice(-2);
    const isConverted = as === 'as' && format !== undefined;
    if (!isConverted) this.folder ??= await this.written();
    const folder = isConverted ? await this.written(format) : this.folder!;
    if (verb === 'sh') return this.shell(words.slice(3), folder);
    const all = wordsOf((isConverted ? [verb, ...rest.slice(0, -2)] : [verb, ...rest]).join(' ')).map((word) =>
      word.startsWith('.') ? join(folder, word) : this.unmasked(word),
    );
    if (verb === 'import') {
      all.push('--workspace', 'acme');
      if (!words.includes('--property')) all.push('--property', PROPERTY);
    }
    const { code, stdout, stderr } = await command({ ORDINATE_DATA: this.data }, ...all);
    const isRead = words.includes('--dry-run') || READS.test(words);
    if (!isRead) this.isKnown = code === 0;
    const changed = code === 0 && !isRead ? await this.changes() : [];
    return [...(code === 0 ? [] : [`exit ${code}`]), ...this.printed(`${stdout}${stderr}`, folder), ...changed];
  }

  /** The lines that are printed, without the names of folders. */
  private printed(text: string, folder: string): string[] {
    const lines = this.masked(text.replaceAll(`${folder}/`, '').replaceAll(folder, '.').trimEnd()).split('\n');
    return lines.filter((line) => !PROGRESS.test(line));
  }

  /** Writes the files, beside the folder of the data, or in another format elsewhere. */
  private async written(format?: string): Promise<string> {
    const folder = format === undefined ? join(this.world.dataFolder, '../files') : temporaryFolder(this.t);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    for (const [path, content] of packed(this.files)) {
      await write(join(folder, path), content);
      if (format !== undefined) await convert(join(folder, path), format);
    }
    return folder;
  }

  /** From now on commands use another data folder. */
  private moved(folder: string): Promise<string[]> {
    this.data = join(this.folder!, folder);
    return this.changes();
  }

  private shell(line: string, folder: string): string[] {
    const { status, stdout, stderr } = spawnSync('sh', ['-c', line], {
      cwd: folder,
      encoding: 'utf8',
      // The order of `ls` and `sort` is that of bytes.
      env: { ...process.env, LC_ALL: 'C' },
    });
    const lines = this.printed(`${stdout}${stderr}`, folder);
    return [...(status === 0 ? [] : [`exit ${status}`]), ...lines].filter((one) => one !== '');
  }

  private sql(statement: string): string[] {
    using db = new DatabaseSync(join(this.data, 'catalog.sqlite'));
    return db
      .prepare(statement)
      .all()
      .map((row) => this.masked(Object.values(row).join()));
  }

  private async changes(): Promise<string[]> {
    const before = this.stored;
    await this.export();
    return [
      ...before.filter((row) => !this.stored.includes(row)).map((row) => `- ${row}`),
      ...this.stored.filter((row) => !before.includes(row)).map((row) => `+ ${row}`),
    ];
  }

  /** The days of a table that a sync has fetched. */
  private async fetched([table = '', state = '', ...days]: readonly string[]): Promise<string[]> {
    const more = { state: state as 'done', impressions: 2, fetchedAt: 0 };
    const rows = days.map((day) => syncDay(table as 'site_daily', day, more));
    await putSyncDays(this.world.catalog, await this.project(), rows);
    return [];
  }

  private async project(): Promise<string> {
    return (await this.world.get('/projects')).body.projects?.[0]?.id as string;
  }

  private clock(time: string): string[] {
    this.t.teardown(restoreClock);
    setClock(Date.parse(time));
    return [];
  }

  /** Loses the catalog, or keeps it for later. From then on only commands work. */
  private async catalog(what: string): Promise<string[]> {
    await this.world.catalog.close();
    const path = join(this.data, 'catalog.sqlite');
    if (what === 'kept') cpSync(path, `${path}.kept`);
    else for (const file of ['', '-wal', '-shm']) rmSync(`${path}${file}`, { force: true });
    if (what === 'empty') writeFileSync(path, '');
    if (what === 'older') cpSync(`${path}.kept`, path);
    if (what === 'blank') {
      using db = new DatabaseSync(path);
      db.exec('pragma journal_mode = wal; create table x (y); drop table x');
    }
    return [];
  }

  private async asked(path: string): Promise<string[]> {
    const app = await this.world.served();
    const url = `/api/v1/projects/${await this.project()}/${path}`;
    const { body } = await app.inject({ url, headers: { authorization: `Bearer ${this.world.key}` } });
    return this.masked(body.trimEnd()).split(/\r?\n/);
  }

  /** Reads all rows of all projects. */
  private async export(): Promise<void> {
    const out = join(temporaryFolder(this.t), 'out');
    const words = ['export', '--workspace', 'acme', '--out', out, '--format', 'csv'];
    const { code } = await command({ ORDINATE_DATA: this.data }, ...words);
    if (code !== 0) return;
    const files = readdirSync(out, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.csv'));
    const rows = files.flatMap((file) => {
      const [, ...lines] = readFileSync(join(out, file), 'utf8').trim().split('\n');
      const [table = '', project = ''] = file.replace('.csv', '').split('/project_id=');
      return lines.map((line) => `${table} ${project === '' ? '' : `${dirname(project)}: `}${line}`);
    });
    for (const row of rows) this.name(row);
    this.stored = rows.map((row) => this.masked(row)).sort();
  }

  /** Made ids are random: such a project is called by its domain, and a keyword by its query. */
  private name(row: string): void {
    const [, project, domain] = /^projects (\w{5}),\w+,([^,]+)/.exec(row) ?? [];
    if (project !== undefined && !this.text.includes(project)) this.names.set(project, `{${domain}}`);
    const [, keyword, query] = /^keywords \w{5},(\w{5}),("[^"]*"|[^,]*)/.exec(row) ?? [];
    if (keyword !== undefined && !this.text.includes(keyword)) this.names.set(keyword, `{${query}}`);
  }

  private masked(text: string): string {
    const plain = text
      .replaceAll(this.data, '{data}')
      .replaceAll(dirname(this.world.dataFolder), '..')
      .replaceAll(/-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(?=\.parquet)/g, '-{id}')
      .replaceAll(/(?<=\d{12}-)[0-9a-f-]{36}(?=\.)/g, '{id}')
      .replaceAll(/\b[0-9a-f]{64}\b/g, '{sha}')
      .replaceAll(/\b[0-9a-f]{32}\b/g, '{store}')
      .replaceAll(/\d+ bytes (and the SHA-256 \S+ )?instead of \d+/g, '{n} bytes $1instead of {n}')
      .replaceAll(/^(20\S+Z .*?) +[\d.]+(?=( +-)? +[\d.]+ MB +[\d.]+ MB$)/gm, '$1  {time}')
      .replaceAll(/(?<=(Backed up|\.\d{3}Z|Restored|backups,) .*)\d+\.\d MB/g, '{size}')
      .replaceAll(/(\S)\1{99,}/gs, (run, letter: string) => `{${letter}*${run.length}}`)
      .replaceAll(/command line \(\w+\)/g, 'command line')
      .replaceAll(/20\d\d-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?Z?/g, (time) => (isLately(time) ? '{now}' : time))
      .replaceAll(/\d+(\.\d+)? s(?=[.;])/g, '{time}')
      .replaceAll(/(?<=[Pp]roject |Projects: )(?!would)[A-Za-z0-9]{5}\b/g, (id) =>
        this.text.includes(id) ? id : (this.names.get(id) ?? '{project}'),
      );
    const named = [...this.names].reduce((all, [id, name]) => all.replaceAll(id, name), plain);
    return named.replaceAll(MOMENT, (moment) => {
      if (!this.moments.includes(moment)) this.moments.push(moment);
      return `{moment ${this.moments.indexOf(moment) + 1}}`;
    });
  }

  private unmasked(word: string): string {
    return word.replaceAll(/\{(moment|instant) (\d+)\}/g, (_, what: string, number: string) => {
      const moment = this.moments[Number(number) - 1]!;
      return what === 'moment' ? moment : moment.replace(/T(\d\d)-(\d\d)-/, 'T$1:$2:');
    });
  }
}

/** Whether a time is about that of the commands, and so not the same again. */
function isLately(time: string): boolean {
  return Math.abs(Date.parse(time.endsWith('Z') ? time : `${time}Z`) - Date.now()) < 86_400_000;
}

/** The files of a folder; those with one archive in their paths become one. */
function packed(files: Files): [string, string | Buffer][] {
  const archives = new Map<string, Record<string, Buffer>>();
  const loose: [string, string | Buffer][] = [];
  for (const [path, text] of files) {
    const [, name = '', encoding] = /^(.*?)(?: (latin1|utf16le))?$/.exec(path)!;
    const bytes = Buffer.from(unescaped(text), (encoding ?? 'utf8') as BufferEncoding);
    const [, archive, inside] = /^(.*\.zip)\/(.*)$/.exec(name) ?? [];
    if (archive === undefined || inside === undefined) loose.push([name, name.endsWith('.parquet') ? text : bytes]);
    else archives.set(archive, { ...archives.get(archive), [inside]: bytes });
  }
  return [...loose, ...[...archives].map(([path, inside]): [string, Buffer] => [path, Buffer.from(zipSync(inside))])];
}

function unescaped(text: string): string {
  const lines = text.replaceAll(/^.*\{(\d+)\.\.(\d+)\}.*\n/gm, (line, from: string, to: string) =>
    Array.from({ length: Number(to) - Number(from) + 1 }, (_, at) =>
      line.replaceAll(/\{\d+\.\.\d+\}/g, String(Number(from) + at).padStart(from.length, '0')),
    ).join(''),
  );
  return withLetters(lines)
    .replaceAll(/\\u([0-9a-f]{4})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replaceAll('\\r', '\r')
    .replaceAll(/\\\n/g, '');
}

/** Replaces a CSV file by one of the same rows in another format; numbers, lists and objects have types of their own there. */
async function convert(path: string, format: string): Promise<void> {
  const target = path.replace(/csv$/, format);
  if (format === 'csv.gz') writeFileSync(target, gzipSync(readFileSync(path)));
  else {
    const how = 'header = true, all_varchar = true, allow_quoted_nulls = false, hive_partitioning = false';
    const rows = await duckdb(`from read_csv(${quoted(path)}, ${how})`);
    const typed = rows.map((row) =>
      Object.fromEntries(Object.entries(row).map(([name, text]) => [name, asJson(text)])),
    );
    if (format === 'parquet') await writeParquetRows(target, typed);
    else writeFileSync(target, typed.map((row) => `${JSON.stringify(row)}\n`).join(''));
  }
  rmSync(path);
}

/** A number, boolean, list or object that a text is in JSON, or the text. */
function asJson(text: unknown): unknown {
  try {
    const value: unknown = JSON.parse(String(text));
    return value === null || (typeof value === 'number' && String(value) !== text) ? text : value;
  } catch {
    return text;
  }
}

/** Writes a file; the rows of a bulk export's table have the columns that all of them have. */
async function write(path: string, content: string | Buffer): Promise<void> {
  mkdirSync(dirname(path), { recursive: true });
  if (!path.endsWith('.parquet')) return writeFileSync(path, content);
  if (String(content).startsWith('select ')) return writeParquet(path, String(content));
  const rows = `${path}.csv`;
  writeFileSync(rows, content);
  const header = String(content).split('\n', 1)[0]!.split(',');
  const known: Readonly<Record<string, string>> = {
    site_url: `'${PROPERTY}'`,
    search_type: "'WEB'",
    is_anonymized_query: 'query is null',
    ...(header.includes('url') ? { is_anonymized_discover: 'false', is_video: 'false' } : {}),
  };
  const added = !header.includes('data_date')
    ? []
    : Object.entries(known)
        .filter(([column]) => !header.includes(column))
        .map(([column, value]) => `, ${value} as ${column}`);
  const text = ['query', 'country', 'device', 'url', 'search_type', 'site_url'].filter((one) => header.includes(one));
  const types = text.map((column) => `'${column}': 'VARCHAR'`).join(', ');
  const read = `read_csv(${quoted(rows)}, header = true, allow_quoted_nulls = false, types = {${types}})`;
  await writeParquet(path, `select *${added.join('')} from ${read}`);
  rmSync(rows);
}
