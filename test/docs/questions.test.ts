// Each question of the guide has the answer on the demo that the guide shows.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { makeDemoSnapshot } from '../../cli/demo/make.ts';
import { loadSnapshot } from '../../server/load/load.ts';
import { createKey } from '../../server/operations/keys.ts';
import { atNight } from '../night.ts';
import { ROOT } from '../readme.ts';
import { runScript } from '../shell.ts';
import { makeWorld, NOW, sharedEngine, temporaryFolder } from '../world.ts';
import { guideBlock, guideBlocks } from './blocks.ts';

// `UPDATE_EXAMPLES=1 npm test test/docs/questions.test.ts` writes the answers.
const FILE = join(ROOT, 'docs/questions.md');

t.test('each question of the guide has the answer that the guide shows', atNight, async (t) => {
  const { app, catalog, settings } = await makeWorld(t);
  const engine = await sharedEngine(settings);
  await loadSnapshot(
    { settings, catalog },
    {
      engine: async () => engine,
      makeSnapshot: async (folder) => {
        await makeDemoSnapshot(settings, folder, NOW);
        return undefined;
      },
    },
  );
  const { key } = await createKey(catalog, { workspace: 'demo', name: 'guide', at: 0 });
  const address = await app.listen({ port: 0 });
  const setup = guideBlock('questions', 'setup').replaceAll('http://127.0.0.1:3000', address);
  const folder = temporaryFolder(t);
  const asked = guideBlocks().filter(
    ({ page, language, name }) => page === 'questions' && language === 'sh' && name !== 'setup',
  );
  t.equal(asked.length, 21);
  let text = readFileSync(FILE, 'utf8');
  for (const { name, code } of asked) {
    const printed = await runScript(setup + code, folder, { KEY: key });
    const answer = printed.startsWith('{')
      ? JSON.stringify(JSON.parse(printed), null, 2)
      : printed.replaceAll('\r', '').trimEnd();
    const shown = guideBlock('questions', `${name}-answer`);
    if (process.env['UPDATE_EXAMPLES'] === '1')
      text = text.replace(`${name}-answer\n${shown}\`\`\``, `${name}-answer\n${answer}\n\`\`\``);
    else t.equal(`${answer}\n`, shown, name);
  }
  if (process.env['UPDATE_EXAMPLES'] === '1') writeFileSync(FILE, text);
});
