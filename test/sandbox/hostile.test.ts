// No statement of a stranger reads, writes or shows anything else, and the guide shows what became of each.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { checkGenerated } from '../docs/generated.ts';
import { isLocal } from '../stores.ts';
import { makeWorld, type World } from '../world.ts';
import { HOSTILE, type Hostile, shownText } from './hostile-statements.ts';
import { type Answer, FACTS, on, poster } from './sql-world.ts';

/** What no answer may show: rows of the other project, files of the system, paths of the program. */
const SECRET = /\b777\b|confidential|secret\.example|root:x:|libduckdb|node_modules|ORDINATE_/;
const STOPPED =
  /was stopped after|more memory than it may use|Out of Memory|memory exhausted|Cannot create a string|depth|too deeply|'sleep_ms' is not available/;

const outcomes = new Map<Hostile, string>();
const count = { refused: 0, runs: 0, stopped: 0 };

for (const [outcome, status, limits, what = outcome] of [
  ['refused', 400, on.limits],
  ['runs', 200, on.limits],
  ['stopped', 400, { statement: 1000 }],
  ['stopped', 400, { statement: 300 }, 'stopped by the time'],
] as const) {
  const statements = HOSTILE.filter((one) => one.outcome === what);
  test(`hostile statements: ${what}`, async (t) => {
    const world = await makeWorld(t, FACTS, { ...on, limits });
    // Each key may send 120 requests per minute, and the clock stands.
    const posts = await Promise.all(Array.from({ length: 4 }, () => poster(world)));
    const before = await contentOf(world);
    const left = [...statements.entries()];
    const next = async (): Promise<void> => {
      for (let one = left.pop(); one !== undefined; one = left.pop()) {
        const sql = one[1].sql.replaceAll('{data}', world.dataFolder);
        const found = await posts[one[0] % posts.length]!({ sql });
        const { status: got, text, body } = found;
        const shown = {
          status: got,
          secret: SECRET.exec(text)?.[0],
          hasPath: text.includes(world.dataFolder) && !sql.includes(world.dataFolder),
          isStopped: outcome === 'stopped' && STOPPED.test(body.error?.message ?? ''),
        };
        const expected = { status, secret: undefined, hasPath: false, isStopped: outcome === 'stopped' };
        t.strictSame(shown, expected, `${shownText(sql)}: ${shownText(text)}`);
        count[outcome] += 1;
        outcomes.set(one[1], outcome === 'refused' ? reasonOf(found, world) : outcome);
      }
    };
    // Two at a time, as a workspace may.
    await Promise.all([next(), next()]);
    t.strictSame(await contentOf(world), before, 'nothing is written');
    t.notOk(
      world.log.some((line) => line.includes('read_text')),
      'statements are not logged',
    );
  });
}

test('the guide has each of them with its outcome', async (t) => {
  const all = HOSTILE;
  t.equal(outcomes.size, 366, 'each was tried');
  const { refused, runs, stopped } = count;
  const head = `${all.length} statements: ${refused} are refused, ${stopped} stopped by a limit, and ${runs} run, because they show nothing else.`;
  const parts = [...new Set(all.map(({ group }) => group))].map((group) => {
    const rows = all
      .filter((one) => one.group === group)
      .map((one) => `| ${shownText(one.sql)} | ${outcomes.get(one)} |`);
    return `### ${group[0]!.toUpperCase()}${group.slice(1)}\n\n| statement | outcome |\n| --- | --- |\n${rows.join('\n')}`;
  });
  checkGenerated(t, 'docs/research/hostile-statements.md', 'statements', [head, ...parts].join('\n\n'));
});

/** The first line of a message, without the names of all tables. */
function reasonOf({ body }: Answer, { dataFolder }: World): string {
  const message = body
    .error!.message.split('\n', 1)[0]!
    .replaceAll(dataFolder, '{data}')
    .replaceAll(dataFolder.toLowerCase(), '{data}');
  const short = message.replace(/; (?:the tables are|those are) .*/, '').replace(/ You might need .*/, '');
  return `refused: ${shownText(short)}`;
}

/** The hashes of all fact files; of stores elsewhere what the other project has. */
async function contentOf({ dataFolder, ask, get }: World): Promise<unknown> {
  if (!isLocal)
    return [await ask('/site?period=30d'), await get('/projects/Proj2/site?period=30d')].map(
      ({ body }) => body as unknown,
    );
  const names = readdirSync(join(dataFolder, 'facts'), { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    names
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => {
        const path = join(parentPath, name);
        return [path, createHash('sha256').update(readFileSync(path)).digest('hex')] as const;
      }),
  );
}
