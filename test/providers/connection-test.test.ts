// `ordinate connections test` names each missing step on the provider's side and what to do about it.
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import t from 'tap';
import { credentialsFile, SECRETS } from '../fakes/connected.ts';
import { FAILURES, type Failure, TOKEN_FAILURES } from '../fakes/search-console-failures.ts';
import { type Scene, scene } from '../projects/scene.ts';
import { PROJECT } from '../world.ts';

const EMAIL = 'ordinate@project.example';

/** Credentials of a service account. */
function serviceAccount(test: Parameters<typeof credentialsFile>[0]): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' });
  return credentialsFile(test, { type: 'service_account', client_email: EMAIL, private_key: key });
}

interface Result {
  readonly works: boolean;
  readonly missing: string | null;
  readonly found: string;
  readonly advice: string;
}

async function testOf({ run }: Scene): Promise<Result> {
  const { code, out } = await run('connections', 'test', '--project', 'Proj1', '--json');
  const [result] = JSON.parse(out) as Result[];
  t.equal(code, result!.works ? 0 : 1);
  for (const secret of SECRETS) t.notOk(out.includes(secret), secret);
  return result!;
}

t.test('each step that can be missing is named, with what to do', async (t) => {
  const property = 'sc-domain:acme.example';
  const world = await scene(t, { projects: [{ ...PROJECT, property }] });
  const { google, run, connection } = world;
  const set = ['connections', 'set', '--project', 'Proj1', '--kind', 'search-console', ...connection];
  const account = serviceAccount(t);
  t.match(await run(...set, '--credentials', account), { code: 0 });
  t.match(await testOf(world), { works: true, missing: null, advice: '' });

  const sites = (...properties: [siteUrl: string, permissionLevel: string][]) => {
    google.sites = properties.map(([siteUrl, permissionLevel]) => ({ siteUrl, permissionLevel }));
  };
  const failing = (how: Failure, times = 1) => {
    google.failure = { how, times };
  };
  const forbidden = FAILURES.forbidden;

  failing(FAILURES.disabled);
  t.match(await testOf(world), { missing: 'api', advice: /^Enable the Google Search Console API/ });

  failing(forbidden);
  sites();
  const nobody = await testOf(world);
  t.match(nobody, { missing: 'user', advice: /^The service account ordinate@project\.example can read no property/ });
  t.match(nobody.advice, /Settings > Users and permissions > Add user, with the permission Restricted/);

  failing(forbidden);
  sites(['https://other.example/', 'siteOwner']);
  t.match(await testOf(world), { missing: 'user', advice: /cannot read sc-domain:acme\.example\..*must add it/ });

  failing(forbidden);
  sites(['https://acme.example/', 'siteFullUser'], ['https://other.example/', 'siteOwner']);
  t.match(await testOf(world), { missing: 'property', advice: /Perhaps you meant https:\/\/acme\.example\/\?/ });

  failing(FAILURES.notFound);
  sites([property, 'siteUnverifiedUser'], ['https://acme.example/', 'siteFullUser']);
  t.match(await testOf(world), { missing: 'permission', advice: /has the permission siteUnverifiedUser on sc-domain/ });

  failing(FAILURES.insufficientPermissions);
  sites([property, 'siteOwner']);
  t.match(await testOf(world), { missing: 'credentials', advice: /needs the scope webmasters\.readonly/ });

  google.tokenFailure = { how: TOKEN_FAILURES.expiredGrant, times: 1 };
  t.match(await testOf(world), { missing: 'credentials', advice: /^Create a key for the service account/ });

  failing(forbidden, 2);
  t.match(await testOf(world), { missing: null, advice: /^Give the identity of the credentials read access/ });

  failing(FAILURES.pageFor403);
  t.match(await testOf(world), { missing: null, advice: /^Check that this machine can reach/ });

  google.failure = undefined;
  writeFileSync(account, 'not JSON any more');
  t.match(await testOf(world), { missing: 'credentials', found: /is not a JSON document/ });
});
