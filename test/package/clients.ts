// Clients that public generators make from the OpenAPI document work against a server, and so do the guide's notebooks.
// It needs the registries of npm and Python, so `npm run test:clients` runs it, and `npm test` does not.
import { execFile } from 'node:child_process';
import { existsSync, globSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { guideBlock } from '../docs/blocks.ts';
import { facts, keyword, makeWorld, temporaryFolder } from '../world.ts';

// Packages are installed, which takes as long as it takes.
t.setTimeout(1_800_000);

const ROOT = join(import.meta.dirname, '../..');
const run = promisify(execFile);

const PYTHON_GENERATOR = 'openapi-python-client==0.29.1';
const NOTEBOOK_PACKAGES = [
  'pandas==3.1.1',
  'polars==2.1.0',
  'duckdb==2.0.0',
  'pyarrow==26.0.1',
  'fsspec==2026.9.0',
  'aiohttp==3.14.5',
];
/** Operations of the first release. A further one may add some model files for itself. */
const FIRST_OPERATIONS = [
  'list_projects',
  'get_project',
  'get_portfolio',
  'list_keywords',
  'list_groups',
  'list_page_groups',
  'get_site',
  'get_breakdowns',
  'list_pages',
  'list_queries',
  'list_alerts',
  'list_notes',
  'get_snapshot',
  'get_snapshot_file',
];
const MAX_FIRST_MODELS = 60;
const MAX_FURTHER_MODELS = 7;

const { app, key } = await makeWorld(t, {
  keywords: [keyword('kwOne', 'red shoes')],
  site_daily: facts('date device', ['2026-03-10', 'mobile', 3, 100, 900]),
  keyword_daily: facts('keyword_id date device', ['kwOne', '2026-03-10', 'mobile', 1, 3, 5]),
});
const address = await app.listen({ port: 0 });

t.test('openapi-typescript writes what client/ has', async (t) => {
  const files = ['openapi.ts', 'operations.ts'].map((name) => join(ROOT, 'client', name));
  const before = files.map((file) => readFileSync(file, 'utf8'));
  await run('npm', ['run', 'client'], { cwd: ROOT });
  for (const [index, file] of files.entries()) {
    t.equal(readFileSync(file, 'utf8'), before[index], file);
    writeFileSync(file, before[index]!);
  }
});

/** The folder of a Python with packages, or undefined where they cannot be installed; the test is then skipped. */
async function python(t: Test, ...packages: readonly string[]): Promise<string | undefined> {
  const tools = join(temporaryFolder(t), 'venv');
  try {
    await run('python3', ['-m', 'venv', tools]);
    await run(join(tools, 'bin/python'), ['-m', 'pip', 'install', '--quiet', ...packages]);
    return tools;
  } catch (error) {
    t.pass('not run', { skip: `Python cannot install ${packages.join(', ')} here: ${(error as Error).message}` });
    return undefined;
  }
}

const ASK = `
import sys
from ordinate_client import AuthenticatedClient
from ordinate_client.api.keywords import list_keywords
from ordinate_client.api.site import get_site
from ordinate_client.models import Device, Error, KeywordsAnswer, SiteAnswer, TotalMetrics

address, key = sys.argv[1:]
client = AuthenticatedClient(base_url=address, token=key)
site = get_site.sync(client=client, id="Proj1", period="7d", device=Device.MOBILE)
assert isinstance(site, SiteAnswer) and isinstance(site.totals, TotalMetrics), site
assert (site.totals.clicks, site.totals.position) == (3, 10.0), site.totals
assert site.range_.to.isoformat() == "2026-03-10", site.range_
keywords = list_keywords.sync(client=client, id="Proj1", daily=True, filter_="query:contains:shoes")
assert isinstance(keywords, KeywordsAnswer), keywords
assert [(one.query, len(one.daily)) for one in keywords.keywords] == [("red shoes", 1)], keywords
refused = get_site.sync(client=client, id="Proj1", period="17m")
assert isinstance(refused, Error) and refused.error.code == "invalid_request", refused
missing = get_site.sync(client=client, id="Nope1")
assert isinstance(missing, Error) and missing.error.code == "not_found", missing
print("answered")
`;

/** How many model files the first operations need, and how many further operations there are. */
function modelsOf(client: string): { readonly first: number; readonly further: number } {
  const importsOf = (path: string): string[] =>
    [...readFileSync(path, 'utf8').matchAll(/from \.+(?:models)?\.?(\w+) import/g)].map(([, name]) => name!);
  const isModel = (name: string): boolean => existsSync(join(client, 'models', `${name}.py`));
  const found = new Set<string>();
  const add = (name: string): void => {
    if (found.has(name) || !isModel(name)) return;
    found.add(name);
    importsOf(join(client, 'models', `${name}.py`)).forEach(add);
  };
  const operations = globSync('api/*/[a-z]*.py', { cwd: client });
  const first = operations.filter((path) => FIRST_OPERATIONS.includes(basename(path, '.py')));
  if (first.length < FIRST_OPERATIONS.length)
    throw new Error(`of the first operations there are only ${first.join(', ')}`);
  for (const path of first) importsOf(join(client, path)).forEach(add);
  return { first: found.size, further: operations.length - first.length };
}

t.test('openapi-python-client: few models, no warnings, and it answers', async (t) => {
  const folder = temporaryFolder(t);
  const tools = await python(t, PYTHON_GENERATOR);
  if (tools === undefined) return;
  // The commands of the guide.
  const commands = guideBlock('programs', 'python-client').replaceAll('http://127.0.0.1:3000', address);
  // It formats what it has written with a program that was installed beside it.
  const env = { ...process.env, PATH: [join(tools, 'bin'), process.env['PATH']].join(delimiter) };
  const generated = await run('bash', ['-euc', `${commands.trimEnd()} --fail-on-warning`], { cwd: folder, env });
  t.notMatch(`${generated.stdout}${generated.stderr}`, /warning|unable/i, 'without warnings');
  const models = readdirSync(join(folder, 'ordinate_client/models')).filter((name) => /^[a-z].*\.py$/.test(name));
  const { first, further } = modelsOf(join(folder, 'ordinate_client'));
  t.comment(`${models.length} model files, ${first} for the first operations`);
  t.ok(first <= MAX_FIRST_MODELS, `the first operations need ${first} model files, at most ${MAX_FIRST_MODELS}`);
  const most = MAX_FIRST_MODELS + MAX_FURTHER_MODELS * further;
  t.ok(
    models.length <= most,
    `all need ${models.length} model files, at most ${most}: ${MAX_FURTHER_MODELS} for a further operation`,
  );
  const { stdout } = await run(join(tools, 'bin/python'), ['-c', ASK, address, key], { cwd: folder });
  t.equal(stdout, 'answered\n', 'a program written with it gets answers and errors');
});

t.test('the notebooks of the guide', async (t) => {
  const tools = await python(t, ...NOTEBOOK_PACKAGES);
  if (tools === undefined) return;
  const env = { ...process.env, TEST_PYTHON: join(tools, 'bin/python') };
  const { stdout } = await run('npm', ['test', 'test/docs/guide.test.ts'], { cwd: ROOT, env });
  t.match(stdout, /^\d+ passed, 0 failed$/m, 'all of them ran');
});
