// The steps of the Dockerfile produce a working service that runs as another user and cannot write its own code.
// Runs the steps of the Dockerfile in folders, without a container engine, then the service that they make: as another user
// where this one is root, with code that nobody may write. It needs npm's registry or its cache, and a minute:
// `npm run test:package` runs it, `npm test` does not.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, cpSync, globSync, lstatSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { ROOT } from '../readme.ts';
import { temporaryFolder } from '../world.ts';
import { readContext, readCopy, readEnvironment, readStages, readWords, type Stage, textsOf } from './dockerfile.ts';
import { answers, OPTIONAL, PINNED_PATH, run, startServer, trackedFiles } from './programs.ts';

t.setTimeout(1_800_000);

const HOME = '/opt/ordinate';

/** What the builder would get. */
function makeContext(t: Test): string {
  const context = temporaryFolder(t);
  const { sent, kept } = readContext();
  const isBelow = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);
  for (const path of trackedFiles()) {
    if (!sent.some((one) => isBelow(path, one)) || kept.some((one) => isBelow(path, one))) continue;
    mkdirSync(dirname(join(context, path)), { recursive: true });
    cpSync(join(ROOT, path), join(context, path));
  }
  return context;
}

/** Takes the steps of a stage in a folder. Those that need root are left out: the test makes the user and the folders. */
async function takeSteps(t: Test, stage: Stage, context: string, stages: ReadonlyMap<string, string>): Promise<string> {
  const root = temporaryFolder(t);
  let folder = root;
  for (const { name, text } of stage.steps) {
    if (name === 'WORKDIR') {
      folder = join(root, text);
      mkdirSync(folder, { recursive: true });
    } else if (name === 'COPY') {
      const { from, sources, target } = readCopy(text);
      for (const source of sources) {
        const path = join(from === undefined ? context : stages.get(from)!, source);
        const to = target.endsWith('/') ? join(folder, target, source) : join(folder, target);
        cpSync(path, to, { recursive: true, verbatimSymlinks: true });
      }
    } else if (name === 'RUN' && stage.name === 'build') {
      const { code, stderr } = await run(folder, { PATH: PINNED_PATH }, 'sh', '-c', text);
      t.equal(code, 0, `${text} ${code === 0 ? '' : stderr}`);
    }
  }
  return root;
}

/** Takes away all rights to write, and lets others read. */
function makeReadOnly(root: string): void {
  execFileSync('chmod', ['-R', 'a-w,a+rX', root]);
}

/** All paths below a folder with their size and time. */
function contentsOf(folder: string): string[] {
  return globSync('**', { cwd: folder, exclude: ['**/node_modules/**/*.map'] }).map((path) => {
    const { size, mtimeMs } = lstatSync(join(folder, path));
    return `${path} ${size} ${mtimeMs}`;
  });
}

t.test('the steps of the Dockerfile, and the service that they make', async (t) => {
  const stages = readStages();
  const context = makeContext(t);
  const roots = new Map<string, string>();
  for (const stage of stages) roots.set(stage.name, await takeSteps(t, stage, context, roots));
  const image = stages.at(-1)!;
  const root = roots.get(image.name)!;
  const home = join(root, HOME);

  t.strictSame(readdirSync(home).sort(), ['LICENSE', 'bin', 'dist', 'node_modules', 'package.json']);
  const packages = readdirSync(join(home, 'node_modules'));
  t.ok(packages.includes('fastify'));
  const unwanted = packages.filter((name) =>
    /^(typescript|tap|oxlint|knip|esbuild|node-linux-.*|node-bin-.*)$/.test(name),
  );
  t.strictSame(unwanted, [], 'no tools for development, no second Node');
  const sources = globSync('{bin,dist}/**/*.{ts,tsx,test.js}', { cwd: home });
  t.strictSame(
    sources.filter((path) => !/^dist\/client\/\w+\.d\.ts$/.test(path)),
    [],
    'no sources',
  );
  const imports = OPTIONAL.map((name) => `import '${name}';`).join(' ');
  const imported = await run(home, { PATH: PINNED_PATH }, 'node', '--input-type=module', '--eval', imports);
  t.equal(imported.code, 0, `the packages that only some servers need ${imported.stderr}`);
  t.comment(`the code takes ${execFileSync('du', ['-sm', home], { encoding: 'utf8' }).split('\t')[0]} MB`);

  // Volumes, and the user of the image where this one may become it.
  const [data, temporary] = [temporaryFolder(t), temporaryFolder(t)];
  const [user = 0, group = 0] = textsOf(image, 'USER')[0]!.split(':').map(Number);
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) for (const folder of [data, temporary]) chownSync(folder, user, group);
  const rights = ['--reuid', String(user), '--regid', String(group), '--clear-groups', '--no-new-privs'];
  // A copy, as in the image: the one of the checkout may be in a folder that others may not enter.
  const node = join(root, 'usr/local/bin/node');
  mkdirSync(dirname(node), { recursive: true });
  cpSync(process.execPath, node, { dereference: true });
  const asUser = isRoot ? ['setpriv', ...rights, '--bounding-set=-all', '--inh-caps=-all'] : [];
  makeReadOnly(root);
  chmodSync(root, 0o555);
  const before = contentsOf(root);

  const here = (word: string): string => (word === 'node' ? node : word.replace(HOME, home));
  const own = { ORDINATE_DATA: data, TMPDIR: temporary, PATH: PINNED_PATH };
  const settings = { ...readEnvironment(image), ...own };
  const entry = readWords(textsOf(image, 'ENTRYPOINT')[0]!).map(here);
  const command = readWords(textsOf(image, 'CMD')[0]!);
  const server = await startServer(t, '/', settings, ...asUser, ...entry, ...command, '--demo');
  await answers(t, server);

  const check = readWords(textsOf(image, 'HEALTHCHECK')[0]!).map(here);
  const asked = { ...settings, PORT: new URL(server.address).port };
  const runHere = (environment: NodeJS.ProcessEnv, ...words: string[]): ReturnType<typeof run> => {
    const [program = '', ...rest] = [...asUser, ...words];
    return run('/', environment, program, ...rest);
  };
  const isHealthy = (): Promise<{ code: number }> => runHere(asked, ...check);
  t.equal((await isHealthy()).code, 0, 'healthy');

  const listed = await runHere(settings, ...entry, 'projects', 'list');
  t.match(listed, { code: 0, stdout: /Fw7kd/ }, 'a command beside it');

  const ended = once(server.child, 'exit');
  server.child.kill(textsOf(image, 'STOPSIGNAL')[0] as NodeJS.Signals);
  t.strictSame(await ended, [0, null], 'it stops by itself');
  t.equal((await isHealthy()).code, 1, 'no longer healthy');
  t.strictSame(contentsOf(root), before, 'nothing was written beside the data');
  t.strictSame(readdirSync(temporary), [], 'no temporary files are left');
  t.ok(readdirSync(data).includes('catalog.sqlite'));
  for (const path of globSync('**', { cwd: data })) {
    if ((statSync(join(data, path)).mode & 0o077) !== 0) t.fail(`${path} can be read by others`);
  }
  execFileSync('chmod', ['-R', 'u+w', root]);
});
