// The reference of commands, settings, limits and errors matches the code.
import t from 'tap';
import { programFor } from '../../cli/program.ts';
import { ERRORS, UNREADABLE_REQUESTS } from '../../server/domain/errors.ts';
import { OPERATIONS } from '../../server/operations/operations.ts';
import { SETTINGS } from '../../server/settings/table.ts';
import { nounsMarkdown } from '../catalog/nouns.ts';
import { commandsMarkdown } from './commands.ts';
import { checkGenerated } from './generated.ts';
import { operationsMarkdown } from './operations.ts';

t.test('commands, settings and errors are documented as the code has them', async (t) => {
  checkGenerated(t, 'docs/commands.md', 'commands', commandsMarkdown(await programFor([])));
  const settings = Object.values(SETTINGS).map(({ name, shown, help }) => `| \`${name}\` | ${shown} | ${help} |`);
  checkGenerated(t, 'docs/settings.md', 'settings', table('| setting | default | |\n| --- | --- | --- |', settings));
  const errors = [
    ...Object.entries(ERRORS),
    ...Object.values(UNREADABLE_REQUESTS).map((row) => ['invalid_request', row] as const),
  ]
    .sort(([, a], [, b]) => a.status - b.status)
    .map(([code, { status, when }]) => `| ${status} | \`${code}\` | ${when} |`);
  checkGenerated(t, 'docs/limits.md', 'errors', table('| status | code | when |\n| --- | --- | --- |', errors));
});

t.test('what members do is documented as it is declared', (t) => {
  checkGenerated(t, 'docs/changes.md', 'operations', operationsMarkdown(OPERATIONS));
  t.end();
});

t.test('what is true after the loss of a catalog is documented as the tests have it', (t) => {
  checkGenerated(t, 'docs/operate.md', 'nouns', nounsMarkdown());
  t.end();
});

function table(header: string, rows: readonly string[]): string {
  return `${header}\n${rows.join('\n')}`;
}
