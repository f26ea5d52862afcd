// A restored server has no invitation of before: it may have been used since.
import t from 'tap';
import { command } from '../command.ts';
import { makeTeam } from './team.ts';

t.test('who was invited before a backup may be invited again after its restore', async (t) => {
  const { dataFolder } = await makeTeam(t);
  const run = (data: string, ...words: string[]) => command({ ORDINATE_DATA: data }, ...words);
  const words = ['members', 'invite', '--workspace', 'acme', '--role', 'member', '--email', 'e@acme.example'];
  t.match(await run(dataFolder, ...words), { code: 0 });
  t.match(await run(dataFolder, 'backup', `${dataFolder}-backup`), { code: 0 });
  t.match(await run(dataFolder, 'restore', `${dataFolder}-backup`, '--data', `${dataFolder}-restored`), { code: 0 });
  t.match(await run(dataFolder, ...words), { code: 1, stderr: /already invited/ });
  t.match(await run(`${dataFolder}-restored`, ...words), { code: 0 });
});
