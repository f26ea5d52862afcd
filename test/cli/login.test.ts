// A sign-in link names the server that runs on the data folder, whatever port it has.
import { join } from 'node:path';
import t from 'tap';
import { command } from '../command.ts';
import { startServer } from '../process.ts';
import { temporaryFolder } from '../world.ts';

t.test('the link leads to the running server, and to the settings without one', async (t) => {
  const settings = { ORDINATE_DATA: join(temporaryFolder(t), 'data'), PORT: '4711' };
  await command(settings, 'workspaces', 'create', '--id', 'acme', '--name', 'Acme', '--plan', 'pro');
  await command(settings, 'members', 'add', '--workspace', 'acme', '--email', 'a@acme.example', '--role', 'owner');
  const login = async (): Promise<string> => {
    const words = ['login', '--workspace', 'acme', '--by', 'a@acme.example', '--json'];
    const { stdout, stderr } = await command(settings, ...words);
    return (JSON.parse(stdout || `{"url":${JSON.stringify(stderr)}}`) as { url: string }).url;
  };
  t.match(await login(), /^http:\/\/127\.0\.0\.1:4711\/app\/sign-in#/);
  const server = await startServer(t, { ...settings, PORT: '0' });
  t.ok((await login()).startsWith(`${server.address}/app/sign-in#`));
  process.kill(server.child.pid!, 'SIGKILL');
  await server.ended;
  t.match(await login(), /:4711\//, 'a killed server is none');
});
