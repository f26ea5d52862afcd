// Stored secrets are encrypted with a key outside of the data folder, and can be read whatever kills a rotation.
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { beginAttempt, createGrant, listGrants, stateOfGrant } from '../../server/catalog/connections.ts';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { unseal } from '../../server/catalog/secrets.ts';
import { createSession } from '../../server/catalog/sessions.ts';
import { addMember } from '../../server/catalog/workspaces.ts';
import { readSettings } from '../../server/settings/settings.ts';
import { command } from '../command.ts';
import { filesWith } from '../hidden.ts';
import { isNight } from '../night.ts';
import { type Ended, run } from '../process.ts';
import { temporaryFolder } from '../world.ts';

const TOKENS = ['1//refresh-one', '1//refresh-two', '1//refresh-three'];

async function scene(t: Test) {
  const dataFolder = join(temporaryFolder(t), 'data');
  const file = join(temporaryFolder(t), 'new', 'secrets.key');
  const environment = { ORDINATE_DATA: dataFolder, ORDINATE_SECRETS_KEY_FILE: file };
  const settings = readSettings(environment);
  await command(environment, 'workspaces', 'create', '--id', 'beta', '--name', 'Beta', '--plan', 'team');
  const add = async (token: string): Promise<string> => {
    await using catalog = await openCatalog(settings);
    return await catalog.transaction((tx) =>
      createGrant(tx, settings, {
        workspace: 'beta',
        kind: 'google',
        clientId: 'c.apps.googleusercontent.com',
        connectedBy: 'owner@beta.example',
        connectedAt: 1,
        endsAt: null,
        token,
      }),
    );
  };
  const read = async (): Promise<string[]> => {
    await using catalog = await openCatalog(settings);
    const grants = await listGrants(catalog, 'beta');
    return grants.map(({ id, refreshToken }) => unseal(settings, { column: 'grants.refresh_token', id }, refreshToken));
  };
  const states = async (): Promise<string[]> => {
    await using catalog = await openCatalog(settings);
    return (await listGrants(catalog, 'beta')).map((grant) => stateOfGrant(settings, grant));
  };
  return { dataFolder, file, environment, settings, add, read, states };
}

const keysIn = (file: string): string[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => /^[0-9a-f]{16} /.test(line));

t.test('the first secret makes a key that only its owner can read', async (t) => {
  const { dataFolder, file, environment, add, read } = await scene(t);
  t.notOk(existsSync(file));
  for (const token of TOKENS) await add(token);
  t.equal(statSync(file).mode & 0o777, 0o600);
  t.equal(statSync(join(file, '..')).mode & 0o777, 0o700);
  t.equal(keysIn(file).length, 1);
  t.strictSame((await read()).toSorted(), TOKENS.toSorted());
  const backup = join(temporaryFolder(t), 'backup');
  t.match(await command(environment, 'backup', backup), { code: 0 });
  t.strictSame(filesWith([dataFolder, backup], TOKENS), []);
});

t.test('a place in the data folder, by links too, and a file that others can read are refused by name', async (t) => {
  const { dataFolder, file, environment, add } = await scene(t);
  const link = join(temporaryFolder(t), 'link');
  symlinkSync(dataFolder, link);
  const linkedFile = join(temporaryFolder(t), 'secrets.key');
  symlinkSync(join(dataFolder, 'secrets.key'), linkedFile);
  for (const path of [join(dataFolder, 'keys/secrets.key'), join(link, 'secrets.key'), linkedFile]) {
    for (const words of [['serve', '--port', '0'], ['work'], ['secrets', 'rotate']]) {
      const refused = await command({ ...environment, ORDINATE_SECRETS_KEY_FILE: path }, ...words);
      t.match(refused, { code: 1, stderr: /ORDINATE_SECRETS_KEY_FILE\) is inside the data folder/ }, words.join(' '));
    }
  }
  t.notOk(existsSync(join(dataFolder, 'secrets.key')));
  await add(TOKENS[0]!);
  for (const mode of [0o640, 0o620, 0o610, 0o604, 0o602, 0o601]) {
    chmodSync(file, mode);
    const refused = await command(environment, 'serve', '--port', '0');
    t.match(refused, { code: 1, stderr: /ORDINATE_SECRETS_KEY_FILE\) can be read by others \(mode 0/ });
  }
});

t.test('without their key secrets are unreadable, and nothing replaces it', async (t) => {
  const { file, environment, add, read, states } = await scene(t);
  await add(TOKENS[0]!);
  const saved = readFileSync(file);
  rmSync(file);
  t.strictSame(await states(), ['unreadable']);
  t.match(await command(environment, 'secrets', 'rotate'), { code: 1, stderr: /is missing, but there are secrets/ });
  await t.rejects(add(TOKENS[1]!), /is missing, but there are secrets that need it/);
  t.notOk(existsSync(file), 'no other key was made');
  writeFileSync(file, `# another\n${'0'.repeat(16)} ${'A'.repeat(43)}\n`, { mode: 0o600 });
  const rotated = await run(t, environment, 'secrets', 'rotate', '--forget', '--json');
  t.match(rotated, { code: 0, stderr: /Not rotated, because their key is missing: 1 secret/ });
  t.strictSame(JSON.parse(rotated.stdout), { rotated: 0 });
  writeFileSync(file, saved);
  t.strictSame(await read(), [TOKENS[0]], 'the right file makes it readable again');
});

t.test(
  'a lost key: sign-ins that wait for Google are no reason to keep it, and a command removes what needs it',
  async (t) => {
    const { file, environment, settings, add, states } = await scene(t);
    const ordinate = (...words: string[]) => command({ ...environment, ORDINATE_DELIVERY_LOOPBACK: 'on' }, ...words);
    const addChannel = (kind: string) =>
      ordinate('channels', 'add', '--workspace', 'beta', '--kind', kind, '--to', 'https://127.0.0.1/hook', '--json');
    {
      await using catalog = await openCatalog(settings);
      await addMember(catalog, 'beta', 'owner@beta.example', 'owner');
      const { token } = await createSession(catalog, {
        ...{ workspace: 'beta', who: { keyId: null, email: 'owner@beta.example' }, at: Date.now() * 1000 },
      });
      await beginAttempt(catalog, settings, { sessionToken: token, at: Date.now() * 1000 });
    }
    rmSync(file);
    t.match(await addChannel('webhook'), { code: 0 }, 'another key is made');
    await addChannel('slack');
    const grant = await add(TOKENS[0]!);
    chmodSync(file, 0o640);
    t.match(await ordinate('secrets', 'remove-unreadable', '--confirm', 'unreadable'), {
      code: 1,
      stderr: /chmod 600/,
    });
    chmodSync(file, 0o600);
    t.match(await ordinate('secrets', 'remove-unreadable'), { code: 1, stderr: /nothing unreadable/ });
    rmSync(file);
    t.match(await addChannel('webhook'), { code: 1, stderr: /secrets remove-unreadable/ });
    const asked = await ordinate('secrets', 'remove-unreadable');
    t.match(asked, { code: 1, stderr: /--confirm unreadable/ });
    t.match(asked.stderr, `account ${grant} of 'beta', connected by owner@beta.example`);
    t.match(await states(), ['unreadable'], 'nothing was removed');
    const done = await ordinate('secrets', 'remove-unreadable', '--confirm', 'unreadable', '--json');
    t.match(JSON.parse(done.stdout).removed, { grants: [grant], channels: { length: 2 } });
    t.strictSame(await states(), []);
    t.match(await addChannel('webhook'), { code: 0 }, 'and it goes on with a new key');
    t.match(await ordinate('audit', 'list', '--action', 'grant.revoked', '--json'), { stdout: grant });
  },
);

t.test('a rotation encrypts all secrets with a new key; old ones stay until they are forgotten', async (t) => {
  const { file, environment, add, read } = await scene(t);
  for (const token of TOKENS) await add(token);
  const first = readFileSync(file, 'utf8');
  t.strictSame(JSON.parse((await command(environment, 'secrets', 'rotate', '--json')).stdout), { rotated: 3 });
  t.equal(keysIn(file).length, 2);
  t.ok(readFileSync(file, 'utf8').includes(first.split('\n')[1]!), 'the old key is still there');
  t.equal(statSync(file).mode & 0o777, 0o600);
  t.strictSame((await read()).toSorted(), TOKENS.toSorted());
  t.match(await command(environment, 'secrets', 'rotate', '--forget'), {
    code: 0,
    stdout: '3 secrets encrypted with a new key; 2 old keys removed.\n',
  });
  t.equal(keysIn(file).length, 1);
  t.strictSame((await read()).toSorted(), TOKENS.toSorted());
});

t.test('a link to the file stays a link', async (t) => {
  const { environment, read, add } = await scene(t);
  await add(TOKENS[0]!);
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'real'));
  const link = join(folder, 'secrets.key');
  symlinkSync(environment.ORDINATE_SECRETS_KEY_FILE, link);
  t.match(await command({ ...environment, ORDINATE_SECRETS_KEY_FILE: link }, 'secrets', 'rotate'), { code: 0 });
  t.equal(keysIn(environment.ORDINATE_SECRETS_KEY_FILE).length, 2);
  t.strictSame(await read(), [TOKENS[0]]);
});

/** Runs a rotation in its own process, which is killed before its change number `at` of the disk. 0: never. */
function killed(t: Test, settings: NodeJS.ProcessEnv, at: number): Promise<Ended> {
  const killer = new URL('../fakes/kill-at.ts', import.meta.url);
  const more = { KILL_AT: String(at), NODE_OPTIONS: `--import ${killer.href}` };
  return run(t, { ...settings, ...more }, 'secrets', 'rotate', '--forget');
}

t.test('killed at any change of the disk, a rotation leaves all secrets readable', async (t) => {
  const { file, environment, add, read } = await scene(t);
  for (const token of TOKENS) await add(token);
  const counted = join(temporaryFolder(t), 'count');
  t.match(await killed(t, { ...environment, KILL_COUNT: counted }, 0), { code: 0 });
  const changes = Number(readFileSync(counted, 'utf8'));
  t.ok(changes >= 6, `${changes} changes`);
  const all = Array.from({ length: changes }, (_, index) => index + 1);
  for (const at of isNight ? all : [Math.ceil(changes / 2)]) {
    t.match(await killed(t, environment, at), { code: null }, `killed at ${at}`);
    t.strictSame((await read()).toSorted(), TOKENS.toSorted(), `all can be read after ${at}`);
    // Another process sees only what is in the file.
    t.match(await run(t, environment, 'secrets', 'rotate', '--json'), { code: 0, stderr: '' });
  }
  t.match(await command(environment, 'secrets', 'rotate', '--forget'), { code: 0 });
  t.equal(keysIn(file).length, 1);
});
