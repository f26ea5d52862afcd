// Mail has two forms of one text, a stable id and a link that ends it; no text from outside becomes a header or markup.
import t from 'tap';
import { headersOf, startMailServer } from '../fakes/smtp.ts';
import { filesWith } from '../hidden.ts';
import { alertOf, makeMailScene, makeScene } from './scene.ts';

const FROM = { ORDINATE_MAIL_FROM: 'Örtliche Berichte <reports@example.com>' };
const EVIL = 'Клики\r\nBcc: evil@example.com\r\n\r\n<script>alert(1)</script> & "quoted"';

t.test('the headers of a mail, and texts from outside', async (t) => {
  const { announce, send, server, rows, channel } = await makeMailScene(t, FROM);
  t.match(channel, { to: 'Team@Acme.example', name: 'Team@Acme.example', state: 'on' });
  await announce('alert.opened', [alertOf('a1', { title: EVIL, body: `${EVIL} ${'x'.repeat(3000)}` })]);
  t.strictSame(await send(), { sent: 1, failed: 0 });
  const [mail, ...more] = server.mails;
  t.strictSame(more, []);
  t.match(mail, { to: ['Team@acme.example'], from: 'reports@example.com', isSecure: true });
  const headers = headersOf(mail!.raw);
  const [{ id } = { id: '' }] = await rows('channels', 'deliveries');
  t.equal(headers.get('message-id'), `<${id}@reports.example.com>`);
  t.equal(headers.get('to'), 'Team@acme.example');
  t.match(headers.get('from'), /^=\?UTF-8\?.* <reports@example\.com>$/);
  t.match(headers.get('subject'), /^=\?UTF-8\?/);
  t.equal(Date.parse(headers.get('date')!), Date.parse('2026-03-15T12:00:00Z'));
  t.equal(headers.get('auto-submitted'), 'auto-generated');
  t.match(
    headers.get('list-unsubscribe'),
    /^<https:\/\/reports\.example\.com\/unsubscribe\/ord_stop_[A-Za-z0-9]{32}>$/,
  );
  t.equal(headers.get('list-unsubscribe-post'), 'List-Unsubscribe=One-Click');
  t.match(headers.get('content-type'), /^multipart\/alternative/);
  t.notOk(headers.has('bcc'));
  t.ok(mail!.raw.split('\r\n').every((line) => line.length <= 998));
});

t.test('5xx fails at once, 4xx and broken connections are tried again with the same id', async (t) => {
  const { announce, send, server, rows, clock } = await makeMailScene(t, FROM);
  await announce('alert.opened', [alertOf('a1')]);
  server.refusal = { code: 451, message: 'later' };
  await send();
  t.match(await rows('channels', 'deliveries'), [{ state: 'pending', status: 451, answer: '451 later' }]);
  server.refusal = undefined;
  clock.at += 6000;
  t.strictSame(await send(), { sent: 1, failed: 0 });
  await announce('alert.opened', [alertOf('a2', { createdAt: clock.at * 1000 })]);
  server.refusal = { code: 550, message: 'no such user' };
  t.strictSame(await send(), { sent: 0, failed: 1 });
  t.match(await rows('channels', 'deliveries'), [{ state: 'failed', status: 550, attempts: 1 }, { state: 'sent' }]);
});

t.test('a password is sent, and stored nowhere; a wrong one is said without it', async (t) => {
  const { json, cli, server, channel, world, settings } = await makeMailScene(t, { credentials: 'user:pass%40word@' });
  t.match(await json('channels', 'test', channel.id), { delivery: { state: 'sent', status: 250 } });
  t.equal(server.mails.length, 1);
  const link = headersOf(server.mails[0]!.raw).get('list-unsubscribe')!.slice(1, -1);
  const token = link.slice(link.lastIndexOf('/') + 1);
  t.strictSame(filesWith([world.dataFolder], ['pass@word', 'pass%40word', token]), []);
  settings['ORDINATE_SMTP_URL'] = `smtp://user:wrong-one@127.0.0.1:${server.port}`;
  const refused = await cli('channels', 'test', channel.id);
  t.match(refused, { code: 1, stderr: /not accepted: 535/ });
  t.notMatch(refused.stderr, 'wrong-one');
});

t.test('a link to unsubscribe: a page that changes nothing, and a button that ends it', async (t) => {
  const { announce, send, server, world, rows, channel, clock } = await makeMailScene(t, FROM);
  await announce('alert.opened', [alertOf('a1')]);
  await send();
  await announce('alert.opened', [alertOf('a2', { createdAt: clock.at * 1000 + 1 })]);
  const link = headersOf(server.mails[0]!.raw).get('list-unsubscribe')!.slice(1, -1);
  const { pathname: url } = new URL(link);
  const headers = { origin: 'https://mail.example', 'content-type': 'application/x-www-form-urlencoded' };
  const page = await world.app.inject({ url });
  t.match(page, { statusCode: 200, headers: { 'x-robots-tag': 'noindex', 'referrer-policy': 'no-referrer' } });
  t.match(page.body, /<form method="post"><button/);
  t.match(await rows('channels', 'list'), [{ state: 'on' }]);
  for (const time of [1, 2]) {
    const posted = await world.app.inject({ method: 'POST', url, headers, payload: 'List-Unsubscribe=One-Click' });
    t.match(posted, { statusCode: 200, headers: { 'x-robots-tag': 'noindex' } }, `time ${time}`);
  }
  t.match(await rows('channels', 'list'), [{ state: 'disabled' }]);
  t.match(await rows('channels', 'deliveries', channel['id']), [{ state: 'cancelled' }, { state: 'sent' }]);
  const audit = (await rows('audit', 'list')).filter(({ action }) => action === 'channel.disabled');
  t.match(audit, [{ actor: 'recipient', details: { reason: 'unsubscribed' } }]);
  for (const unknown of [
    `${url.slice(0, -1)}_`,
    `${url.slice(0, -1)}${url.endsWith('x') ? 'y' : 'x'}`,
    '/unsubscribe/x',
  ]) {
    for (const method of ['GET', 'POST'] as const) {
      t.equal((await world.app.inject({ method, url: unknown, headers })).statusCode, 404, `${method} ${unknown}`);
    }
  }
  t.notMatch(world.log.join(''), url.slice(-20), 'the log has no token');
});

t.test('a server that hangs ends an attempt in time', async (t) => {
  const hanging = await startMailServer(t, { onConnect: () => {} });
  const { json, cli } = await makeScene(t, {
    ORDINATE_SMTP_URL: `smtp://127.0.0.1:${hanging.port}`,
    ORDINATE_MAIL_FROM: 'reports@example.com',
    ORDINATE_DELIVERY_SECONDS: '1',
  });
  const words = ['channels', 'add', '--workspace', 'acme', '--kind', 'email', '--to', 'team@acme.example'];
  const { channel } = await json(...words);
  t.match(await cli('channels', 'test', channel.id), { code: 1, stderr: /not accepted: no answer/ });
});
