// `ordinate connections test` names each missing step on the provider's side and what to do about it.
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import t from 'tap';
import { credentialsFile, SECRETS } from '../fakes/connected.ts';
import { FAILURES, TOKEN_FAILURES } from '../fakes/search-console-failures.ts';
import { scene } from '../projects/scene.ts';
import { PROJECT } from '../world.ts';

const PROPERTY = 'sc-domain:acme.example';
const URL_PREFIX = 'https://acme.example/';
const OTHER = 'https://other.example/';

/** How requests fail, and how often; what the caller can read; what is said to be missing, and to be done. */
type Case = readonly [
  failure: keyof typeof FAILURES | null,
  times: number,
  sites: readonly string[],
  missing: string | null,
  advice: RegExp,
];
const CASES: readonly Case[] = [
  [null, 0, [`${PROPERTY} siteOwner`], null, /^$/],
  ['disabled', 1, [], 'api', /^Enable the Google Search Console API/],
  [
    'forbidden',
    1,
    [],
    'user',
    /^The service account ordinate@project\.example can read no property.*Settings > Users and permissions > Add user, with the permission Restricted/,
  ],
  ['forbidden', 1, [`${OTHER} siteOwner`], 'user', /cannot read sc-domain:acme\.example\..*must add it/],
  [
    'forbidden',
    1,
    [`${URL_PREFIX} siteFullUser`, `${OTHER} siteOwner`],
    'property',
    /Perhaps you meant https:\/\/acme\.example\/\?/,
  ],
  [
    'notFound',
    1,
    [`${PROPERTY} siteUnverifiedUser`, `${URL_PREFIX} siteFullUser`],
    'permission',
    /has the permission siteUnverifiedUser on sc-domain/,
  ],
  ['insufficientPermissions', 1, [`${PROPERTY} siteOwner`], 'credentials', /needs the scope webmasters\.readonly/],
  ['forbidden', 2, [], null, /^Give the identity of the credentials read access/],
  ['pageFor403', 1, [], null, /^Check that this machine can reach/],
];

t.test('each step that can be missing is named, with what to do', async (t) => {
  const { google, run, connection } = await scene(t, { projects: [{ ...PROJECT, property: PROPERTY }] });
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const private_key = privateKey.export({ type: 'pkcs8', format: 'pem' });
  const client_email = 'ordinate@project.example';
  const account = credentialsFile(t, { type: 'service_account', client_email, private_key });
  const set = ['connections', 'set', '--project', 'Proj1', '--kind', 'search-console', ...connection];
  t.match(await run(...set, '--credentials', account), { code: 0 });
  const test = async () => {
    const { code, out } = await run('connections', 'test', '--project', 'Proj1', '--json');
    const [result] = JSON.parse(out) as { works: boolean; missing: string | null; found: string; advice: string }[];
    t.equal(code, result!.works ? 0 : 1);
    for (const secret of SECRETS) t.notOk(out.includes(secret), secret);
    return result!;
  };
  for (const [failure, times, sites, missing, advice] of CASES) {
    google.failure = failure === null ? undefined : { how: FAILURES[failure], times };
    google.sites = sites.map((site) => {
      const [siteUrl = '', permissionLevel = ''] = site.split(' ');
      return { siteUrl, permissionLevel };
    });
    t.match(await test(), { works: failure === null, missing, advice }, `${failure} ${sites.join()}`);
  }
  google.failure = undefined;
  google.tokenFailure = { how: TOKEN_FAILURES.expiredGrant, times: 1 };
  t.match(await test(), { missing: 'credentials', advice: /^Create a key for the service account/ });
  writeFileSync(account, 'not JSON any more');
  t.match(await test(), { missing: 'credentials', found: /is not a JSON document/ });
});
