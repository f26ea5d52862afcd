import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { catalog, onPage, open, origin, SCREENS, signedIn } from './setup.ts';
import { ATTACK } from './world.ts';

t.test('pages of other origins can neither read nor change anything', async (t) => {
  const elsewhere = createServer((_request, response) =>
    response.setHeader('content-type', 'text/html').end('<h1>Elsewhere</h1>'),
  );
  await new Promise<void>((done) => elsewhere.listen(0, '127.0.0.1', done));
  t.teardown(() => elsewhere.close());
  const { port } = elsewhere.address() as AddressInfo;
  const context = await signedIn();
  const page = await context.newPage();
  for (const host of ['127.0.0.1', 'localhost']) {
    await page.goto(`http://${host}:${port}/`);
    const tries = (await page.evaluate(`(async () => {
      const send = (path, init) => fetch('${origin}' + path, { credentials: 'include', ...init }).then((r) => r.type + r.status, () => 'refused');
      return [
        await send('/app/api/projects', {}),
        await send('/app/api/projects', { mode: 'no-cors' }),
        await send('/app/api/keys', { method: 'POST', mode: 'no-cors', headers: { 'content-type': 'text/plain' }, body: '{"name":"evil"}' }),
        await send('/app/api/keys', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"name":"evil"}' }),
        await send('/app/api/session', { method: 'DELETE' }),
      ];
    })()`)) as string[];
    t.strictSame(new Set(tries), new Set(['refused', 'opaque0']), host);
    await page.setContent(
      `<form method="post" action="${origin}/app/api/keys"><input name="name" value="evil"></form>`,
    );
    await page.evaluate('document.forms[0].submit()');
    await page.waitForLoadState();
    t.match(await page.locator('body').textContent(), 'forbidden', 'a form');
  }
  const names = (await catalog.statements.all<{ name: string }>('keys.of_workspace', { workspace: 'acme' })).map(
    ({ name }) => name,
  );
  t.notOk(names.includes('evil'));
  await open(page, '/app');
  t.ok(await page.getByRole('heading', { name: 'Projects' }).isVisible(), 'still signed in');
  const framed = await context.newPage();
  await framed.goto(`http://127.0.0.1:${port}/`);
  await framed.setContent(`<iframe src="${origin}/app"></iframe>`);
  await framed.waitForTimeout(500);
  t.match(framed.frames()[1]?.url(), /^chrome-error:/, 'no page may frame it');
  await context.close();
});

onPage('no text of a snapshot becomes markup', {}, async (t, page) => {
  const paths = [
    '/app',
    ...SCREENS.map((screen) => `/app/p/Proj1${screen}`),
    '/app/p/Proj1/keywords/Kw002',
    '/app/p/Proj1/alerts?alert=00000000-0000-4000-8000-000000000001',
    '/app/p/Evil1',
    `/app/p/Proj1/queries?search=${encodeURIComponent(ATTACK)}&filter=${encodeURIComponent(`query:contains:${ATTACK}`)}`,
    `/app/p/${encodeURIComponent(ATTACK)}`,
    `/app/p/Proj1?metric=${encodeURIComponent(ATTACK)}&period=${encodeURIComponent(ATTACK)}`,
  ];
  for (const path of paths) {
    await open(page, path);
    const made = await page.evaluate(
      `document.querySelectorAll('img[onerror], img[src=x], main script, a[href^="javascript:" i]').length`,
    );
    t.equal(made, 0, path);
  }
  await open(page, '/app/p/Proj1/queries');
  t.ok(await page.getByText(ATTACK, { exact: true }).first().isVisible(), 'it is shown as it is written');
});
