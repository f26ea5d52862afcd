// What the guide says of connecting, channels and roles works as printed.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { readSetup } from '../../server/projects/connect.ts';
import { readSettings } from '../../server/settings/settings.ts';
import { alertOf, makeScene } from '../channels/scene.ts';
import { ROOT } from '../readme.ts';
import { runScript } from '../shell.ts';
import { temporaryFolder } from '../world.ts';
import { guideBlock, guideBlocks, triedBlocks } from './blocks.ts';

const PAGES = ['connect-google', 'channels', 'roles'];

/** The settings that a block exports. */
async function exported(page: string, name: string): Promise<Record<string, string>> {
  const printed = await runScript(`${guideBlock(page, name)}\nenv`, ROOT, { PATH: process.env['PATH'] });
  return Object.fromEntries([...printed.matchAll(/^(ORDINATE_\w+)=(.*)$/gm)].map(([, key, value]) => [key!, value!]));
}

t.test('connect-google: with these settings and the file, owners can connect', async (t) => {
  const environment = await exported('connect-google', 'settings');
  const file = join(temporaryFolder(t), 'secret');
  writeFileSync(file, 'GOCSPX-secret\n');
  const keyFile = join(temporaryFolder(t), 'secrets.key');
  const settings = readSettings({
    ...environment,
    ORDINATE_GOOGLE_CLIENT_SECRET_FILE: file,
    ORDINATE_SECRETS_KEY_FILE: keyFile,
  });
  t.strictSame(readSetup(settings), {
    configured: true,
    clientId: '1234-abcd.apps.googleusercontent.com',
    redirectUri: 'https://ordinate.example.com/app/connect/google/callback',
    problem: null,
  });
});

t.test('roles and channels, from an empty folder; mail by two settings', async (t) => {
  const { ORDINATE_DATA: _, ...rest } = process.env;
  const environment = { ...rest, ORDINATE_SECRETS_KEY_FILE: join(temporaryFolder(t), 'k') };
  const folder = temporaryFolder(t);
  const owner = await runScript(guideBlock('roles', 'members'), folder, environment);
  t.match(owner, /owner@acme\.example +owner[\s\S]*sign-in#ord_link_/);
  const added = await runScript(guideBlock('channels', 'add'), folder, environment);
  t.match(added, /whsec_[\s\S]*webhook.*https:\/\/hooks\.example\.com\/…/);
  const settings = readSettings(await exported('channels', 'mail'));
  t.match(settings, { smtpUrl: /^smtps:/, mailFrom: 'Ordinate <reports@example.com>' });
});

t.test('channels: the code for receivers knows what is genuine', async (t) => {
  const file = join(temporaryFolder(t), 'verify.mjs');
  writeFileSync(file, guideBlock('channels', 'verify'));
  const { isGenuine } = (await import(pathToFileURL(file).href)) as {
    isGenuine: (secret: string, headers: object, body: string) => boolean;
  };
  const { add, announce, send, receiver, clock } = await makeScene(t);
  clock.at = Date.now();
  const { secret } = await add('webhook', '/');
  await announce('alert.opened', [alertOf('a1')]);
  await send();
  const { headers, body } = receiver.received[0]!;
  t.ok(isGenuine(secret, headers, body));
  t.notOk(isGenuine(secret, headers, `${body} `));
  t.notOk(isGenuine(`whsec_${Buffer.alloc(32).toString('base64')}`, headers, body));
  const old = { ...headers, 'webhook-timestamp': String(Number(headers['webhook-timestamp']) - 400) };
  t.notOk(isGenuine(secret, old, body));
});

t.test('connect-google: every message of the page about a sign-in is explained', (t) => {
  const page = readFileSync(join(ROOT, 'docs/connect-google.md'), 'utf8');
  const screen = readFileSync(join(ROOT, 'server/dashboard/client/screens/connect.tsx'), 'utf8');
  const errors = /const ERRORS[^=]*= \{([\s\S]*?)\n\};/.exec(screen)?.[1] ?? '';
  const messages = [...errors.matchAll(/'([A-Z][^']+)'/g)].map(([, message = '']) => message);
  t.equal(messages.length, 6);
  // The page may say it in fewer words.
  for (const message of messages) t.match(page, message.split(/[.,]| at Google/)[0]!, message);
  t.end();
});

t.test('every block of these pages was tried', (t) => {
  const blocks = guideBlocks().filter(({ page }) => PAGES.includes(page));
  t.equal(blocks.length, 5);
  for (const { page, name } of blocks) t.ok(triedBlocks.has(`${page} ${name}`), `${page}: ${name}`);
  t.end();
});
