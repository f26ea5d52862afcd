// What a dialogue cannot say of connecting: two at once, and a server behind HTTPS.
import t from 'tap';
import { Providers } from './providers.ts';
import { makeTeam } from './team.ts';

t.test('of two who make a project of a property at once, one is told of the project of the other', async (t) => {
  const providers = await Providers.start(t);
  const team = await makeTeam(t, {}, providers.environment);
  await providers.say('owner connects', team);
  const [grant] = (await team.send('owner', 'GET', '/connect')).body.grants as { id: string }[];
  const wanted = { property: 'https://www.shop.example/' };
  const both = await Promise.all(
    ['owner', 'admin'].map((who) => team.send(who as 'owner', 'POST', `/connect/google/${grant!.id}/projects`, wanted)),
  );
  const made = both.find(({ status }) => status === 201);
  const refused = both.find(({ status }) => status === 409);
  t.match(refused, { code: 'conflict', message: `'${made?.body.project.id}'` });
});

t.test('behind HTTPS, the cookie of an attempt is for this host and its browser only', async (t) => {
  const providers = await Providers.start(t);
  const team = await makeTeam(t, {}, { ...providers.environment, ORDINATE_PUBLIC_URL: 'https://reports.example' });
  const { headers } = await team.send(
    'owner',
    'POST',
    '/connect/google',
    {},
    {
      ...{ host: 'reports.example', origin: 'https://reports.example' },
      cookie: `__Host-${team.cookies.get('owner')!}`,
    },
  );
  t.match(
    String(headers['set-cookie']),
    /^__Host-ordinate-connect=\S+; Path=\/; Max-Age=600; HttpOnly; Secure; SameSite=Lax$/,
  );
});
