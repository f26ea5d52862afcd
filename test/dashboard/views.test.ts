// Members save views of a project under names for the whole workspace, and change their own, with a trail.
import t from 'tap';
import { audited, eachRole, makeTeam } from './team.ts';

const PATH = '/projects/Proj1/views';
const view = (name: string, address = '/queries?change=up&period=3m') => ({ name, address });

t.test('who may save, and what everybody then sees', async (t) => {
  const { send, catalog } = await makeTeam(t);
  await eachRole(t, send, { allowed: ['owner', 'admin', 'member'], status: 201 }, async (who) => [
    'POST',
    PATH,
    view(`of ${who}`),
  ]);
  for (const who of ['key', 'member'] as const) {
    const { views } = (await send(who, 'GET', PATH)).body;
    t.strictSame(
      views.map(({ name }: { name: string }) => name),
      ['of admin', 'of member', 'of owner'],
    );
    t.match(views[1], { address: '/queries?change=up&period=3m', author: 'member@acme.example' });
  }
  t.equal((await send('other', 'GET', PATH)).status, 404);
  t.strictSame((await send('key', 'GET', '/projects/Proj2/views')).body.views, []);
  t.equal((await audited(catalog, 'view.created')).length, 3);
});

t.test('members change their own views, owners and admins all', async (t) => {
  const { send, catalog } = await makeTeam(t);
  const { id } = (await send('owner', 'POST', PATH, view('Losers'))).body.view;
  t.match(await send('member', 'PATCH', `${PATH}/${id}`, { name: 'Mine' }), {
    status: 403,
    message: /their own views/,
  });
  t.equal((await send('member', 'DELETE', `${PATH}/${id}`)).status, 403);
  const changed = await send('admin', 'PATCH', `${PATH}/${id}`, { name: 'Falling', address: '' });
  t.match(changed, { status: 200, body: { view: { name: 'Falling', address: '' } } });
  t.equal((await send('owner', 'DELETE', `${PATH}/${id}`)).status, 204);
  t.equal((await send('owner', 'DELETE', `${PATH}/${id}`)).status, 404);
  t.match(await audited(catalog, 'view.removed'), [{ actor: 'owner@acme.example', subject: id }]);
  t.match(await audited(catalog, 'view.changed'), [{ details: { name: 'Falling' } }]);
});

t.test('names are unique, and addresses lead nowhere else', async (t) => {
  const { send } = await makeTeam(t);
  const { id } = (await send('member', 'POST', PATH, view('One'))).body.view;
  t.equal((await send('member', 'POST', '/projects/Proj2/views', view('One'))).status, 201, 'in another project');
  t.match(await send('admin', 'POST', PATH, view(' one ')), { status: 409, message: /^'name' is taken/ });
  t.equal((await send('member', 'PATCH', `${PATH}/${id}`, view('ONE'))).status, 200, 'its own name');
  t.equal((await send('member', 'PATCH', `/projects/Proj2/views/${id}`, {})).status, 404);
  for (const name of ['', '  ', 'x'.repeat(101)]) {
    t.match(await send('member', 'POST', PATH, view(name)), { status: 400, message: /^'name' must have/ });
  }
  for (const address of [
    '//evil.example',
    'https://evil.example',
    '/../members',
    '/a/b/c',
    '/queries#x',
    '?a b',
    'javascript:x',
  ]) {
    t.match(
      await send('member', 'POST', PATH, view('Two', address)),
      { status: 400, message: /^'address' must be/ },
      address,
    );
  }
  for (const address of ['', '?period=7d', '/keywords/Kw001?compare=year', '/pages/one?of=https://shop.example/a']) {
    t.equal((await send('member', 'POST', PATH, view(`at ${address}`, address))).status, 201, address);
  }
});
