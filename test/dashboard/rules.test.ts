// Owners and admins write alert rules, and look first on which days of the last year they would have opened an alert.
import t from 'tap';
import { addDays, eachDay } from '../../server/domain/dates.ts';
import { command } from '../command.ts';
import { facts, keyword } from '../world.ts';
import { audited, eachRole, makeTeam } from './team.ts';

const RULES = '/projects/Proj1/rules';
const RULE = { scope: 'site', metric: 'clicks', window: '1d', against: 'value', op: 'lt', value: 5 };
const FALLS = '2026-02-20';
const ROWS = {
  keywords: [keyword('Kw001', 'shoes')],
  site_daily: facts(
    'date device',
    ...eachDay('2026-01-01', '2026-03-10').map((day) => [day, 'mobile', day === FALLS ? 1 : 9, 100, 0]),
  ),
};
const managers = ['owner', 'admin'] as const;

t.test('rules: made, changed and removed, each visible at once and audited', async (t) => {
  const { send, catalog } = await makeTeam(t, ROWS);
  const made = await send('admin', 'POST', RULES, { name: 'Few clicks', rule: RULE });
  const { rule } = made.body;
  t.strictSame(made.status, 201);
  t.strictSame(rule, { id: rule.id, name: 'Few clicks', rule: RULE, severity: 'warning', enabled: true });
  t.strictSame((await send('member', 'GET', RULES)).body, { rules: [rule] });
  const path = `${RULES}/${rule.id}`;
  const other = { ...RULE, scope: 'keyword', id: 'Kw001' };
  t.match(await send('owner', 'PATCH', path, { rule: other, severity: 'critical', enabled: false }), {
    ...{ status: 200, body: { rule: { name: 'Few clicks', rule: other, severity: 'critical', enabled: false } } },
  });
  t.equal((await send('owner', 'DELETE', path)).status, 204);
  t.strictSame((await send('key', 'GET', RULES)).body, { rules: [] });
  t.match(await audited(catalog, 'rule.created'), [
    { actor: 'admin@acme.example', subject: rule.id, details: { rule: RULE } },
  ]);
  t.match(await audited(catalog, 'rule.changed'), [{ subject: rule.id, details: { enabled: false } }]);
  t.match(await audited(catalog, 'rule.removed'), [{ actor: 'owner@acme.example', subject: rule.id }]);
});

t.test('a test: the days of the last year on which a rule would have opened an alert; nothing is saved', async (t) => {
  const { send } = await makeTeam(t, ROWS);
  const tested = await send('admin', 'POST', `${RULES}/test`, { rule: RULE });
  t.match(tested, { status: 200, body: { from: addDays('2026-03-07', -364), to: '2026-03-07', days: [FALLS] } });
  t.strictSame((await send('owner', 'GET', RULES)).body, { rules: [] });
});

t.test('a test of a project without data: there is nothing to test it with', async (t) => {
  const unsynced = { id: 'Proj3', workspace_id: 'acme', domain: 'a.example', property: 'sc-domain:a.example' };
  const { send, load } = await makeTeam(t);
  await load({ projects: [{ ...unsynced, created_at: '2026-01-01T00:00:00Z' }] });
  const tested = await send('owner', 'POST', '/projects/Proj3/rules/test', { rule: RULE });
  t.match(tested, { status: 409, code: 'conflict', message: /no final day yet/ });
});

t.test('who may, and what is wrong', async (t) => {
  const { send } = await makeTeam(t, ROWS);
  const make = async (): Promise<string> =>
    `${RULES}/${(await send('owner', 'POST', RULES, { name: 'A', rule: RULE })).body.rule.id}`;
  const readers = ['owner', 'admin', 'member', 'key'] as const;
  await eachRole(t, send, { allowed: readers, status: 200 }, async () => ['GET', RULES]);
  await eachRole(t, send, { allowed: managers, status: 201 }, async () => ['POST', RULES, { name: 'A', rule: RULE }]);
  await eachRole(t, send, { allowed: managers, status: 200 }, async () => ['POST', `${RULES}/test`, { rule: RULE }]);
  await eachRole(t, send, { allowed: managers, status: 200 }, async () => ['PATCH', await make(), { name: 'B' }]);
  await eachRole(t, send, { allowed: managers, status: 204 }, async () => ['DELETE', await make()]);
  t.equal((await send('key', 'DELETE', `${RULES}/gone`)).status, 404);
  t.equal((await send('owner', 'DELETE', (await make()).replace('Proj1', 'Proj2'))).status, 404, 'of another project');
  for (const [body, message] of [
    [{ name: 'A' }, /rule must be sent/],
    [{ name: ' ', rule: RULE }, /'name' must be a line of text/],
    [{ name: 'A', rule: 5 }, /The rule is invalid: a rule must be an object/],
    [{ name: 'A', rule: { ...RULE, op: 'falls_by' } }, /The rule is invalid: op against "value" must be one of lt, gt/],
    [{ name: 'A', rule: { ...RULE, scope: 'group', id: 'Gone1' } }, /has no group 'Gone1'/],
    [{ name: 'A', rule: RULE, severity: 'bad' }, /'severity' must be one of info, warning, critical/],
    [{ name: 'A', rule: RULE, to: 'me' }, /'to' is not a field of this request/],
  ] as const) {
    t.match(await send('owner', 'POST', RULES, body), { status: 400, code: 'invalid_request', message });
  }
  t.match(await send('owner', 'POST', `${RULES}/test`, { rule: {} }), { status: 400, message: /scope must be one of/ });
  t.match(await send('owner', 'PATCH', await make(), { rule: {} }), { status: 400, message: /scope must be one of/ });
});

t.test('by command audited too', async (t) => {
  const { send, catalog, dataFolder } = await makeTeam(t, ROWS);
  const run = (...words: string[]) => command({ ORDINATE_DATA: dataFolder }, 'rules', ...words);
  t.match(await run('add', '--project', 'Proj1', '--name', 'A', '--rule', JSON.stringify(RULE)), { code: 0 });
  const [{ id }] = (await send('owner', 'GET', RULES)).body.rules;
  t.match(await run('remove', id), { code: 0 });
  t.match(await run('remove', id), { code: 1, stderr: /There is no rule/ });
  t.match(await audited(catalog, 'rule.created'), [{ actor: /^command line/, subject: id }]);
  t.match(await audited(catalog, 'rule.removed'), [{ actor: /^command line/, subject: id }]);
});
