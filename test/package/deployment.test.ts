// The Dockerfile, compose.yaml and systemd unit match the package and protect the machine.
// test/package/image.ts runs the steps of the Dockerfile.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { satisfies } from 'semver';
import t from 'tap';
import { parse } from 'yaml';
import { unitText } from '../../cli/service/unit.ts';
import { SETTINGS } from '../../server/settings/table.ts';
import { ROOT } from '../readme.ts';
import { makeWorld, PROJECT, WORKSPACE } from '../world.ts';
import { readContext, readCopy, readEnvironment, readStages, readWords, textsOf } from './dockerfile.ts';

interface Manifest {
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly files: readonly string[];
  readonly engines: { readonly node: string };
  readonly devEngines: { readonly runtime: { readonly version: string } };
  readonly optionalDependencies: Readonly<Record<string, string>>;
  readonly scripts: Readonly<Record<string, string>>;
}

interface Compose {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly configs: Readonly<Record<string, { readonly file?: string; readonly content?: string }>>;
  readonly volumes: Readonly<Record<string, null>>;
}

interface ComposeService {
  readonly image: string;
  readonly profiles?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly configs?: readonly { readonly source: string; readonly target: string }[];
  readonly read_only?: boolean;
  readonly stop_grace_period?: string;
  readonly cap_drop: readonly string[];
  readonly security_opt: readonly string[];
  readonly ulimits?: Readonly<Record<string, number>>;
}

const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const installed = read('bin/ordinate');
/** What the installed command sets. */
const ARENAS = /MALLOC_ARENA_MAX:-(\d+)/.exec(installed)![1]!;
const YOUNG = /^young=(.*)$/m.exec(installed)![1]!;
const manifest = JSON.parse(read('package.json')) as Manifest;
const compose = parse(read('compose.yaml')) as Compose;
const stages = readStages();
const [build, image] = [stages[0]!, stages.at(-1)!];
const settings: readonly string[] = Object.values(SETTINGS).map(({ name }) => name);
/** Seconds that the server waits for running requests after a signal. */
const grace = Number(/const GRACE = (\d+)_000;/.exec(read('server/main.ts'))?.[1]);

t.test('both stages use the Node that the package is tested with', (t) => {
  t.equal(stages.length, 2);
  for (const { image: base } of stages) {
    const [, version = ''] = /^node:(\d+\.\d+\.\d+)-\w+-slim$/.exec(base) ?? [];
    for (const wanted of [manifest.engines.node, manifest.devEngines.runtime.version]) {
      t.ok(satisfies(version, wanted), `${base} is Node ${wanted}`);
    }
    for (const pinned of Object.values(manifest.optionalDependencies)) t.equal(version, pinned, 'the pinned one');
  }
  t.end();
});

t.test('what the Dockerfile copies exists and reaches the builder, and nothing else does', (t) => {
  const { sent, kept } = readContext();
  const wanted = stages.flatMap((stage) => textsOf(stage, 'COPY').map(readCopy));
  const copied = wanted.filter(({ from }) => from === undefined).flatMap(({ sources }) => sources);
  for (const path of copied) t.ok(existsSync(join(ROOT, path)), path);
  t.strictSame([...new Set(copied)].sort(), sent.sort(), '.dockerignore names the same');
  t.strictSame(kept, ['*', 'server/dashboard/dist']);
  for (const { from, sources } of wanted.filter((copy) => copy.from !== undefined)) {
    t.equal(from, build.name);
    for (const path of sources) t.match(path, /^\/opt\/ordinate\/(node_modules|bin|dist)$/);
  }
  t.end();
});

t.test('the image installs and builds as the package does', (t) => {
  const steps = textsOf(build, 'RUN');
  t.match(steps, ['npm ci', 'npm run build', /^node scripts\/optional-packages\.ts && npm prune --omit=dev && /]);
  t.ok(manifest.scripts['build']);
  t.notMatch(textsOf(image, 'RUN').join(), 'npm', 'nothing is installed into the image itself');
  t.end();
});

t.test('labels, user, volume and signal', (t) => {
  const [labels = ''] = textsOf(image, 'LABEL');
  for (const [name, value] of Object.entries({
    title: 'Ordinate',
    description: manifest.description,
    version: manifest.version,
    licenses: manifest.license,
  })) {
    t.ok(labels.includes(`org.opencontainers.image.${name}="${value}"`), name);
  }
  const [user = ''] = textsOf(image, 'USER');
  t.match(user, /^[1-9]\d{4,}:[1-9]\d{4,}$/, 'a number of its own');
  t.match(textsOf(image, 'RUN').join(), `--uid ${user.split(':')[0]}`);
  t.strictSame(textsOf(image, 'STOPSIGNAL'), ['SIGTERM']);
  const { MALLOC_ARENA_MAX: arenas, ...environment } = readEnvironment(image);
  t.equal(arenas, ARENAS, 'what the installed command sets');
  for (const name of Object.keys(environment)) t.ok(settings.includes(name), `${name} is a setting`);
  t.strictSame(readWords(textsOf(image, 'VOLUME')[0]!), [
    environment['ORDINATE_DATA'],
    dirname(environment['ORDINATE_SECRETS_KEY_FILE']!),
  ]);
  t.strictSame(textsOf(image, 'EXPOSE'), [SETTINGS.port.fallback]);
  t.end();
});

t.test('the image starts the program of the package', async (t) => {
  const [entry = '', command = ''] = [textsOf(image, 'ENTRYPOINT')[0], textsOf(image, 'CMD')[0]];
  t.strictSame(readWords(command), ['serve']);
  const [node, option, program = ''] = readWords(entry);
  t.equal(node, 'node');
  t.equal(option, YOUNG, 'what the installed command sets');
  const source = program.replace('/opt/ordinate/dist/', '').replace('.js', '.ts');
  t.ok(existsSync(join(ROOT, source)), source);
  const linked = /ln -s (\/opt\/ordinate\/(\S+)) \/usr\/local\/bin\/ordinate/.exec(textsOf(image, 'RUN').join());
  t.ok(existsSync(join(ROOT, linked?.[2] ?? 'missing')), 'the command');
});

t.test('the health check asks a path that the server has', async (t) => {
  const [check = ''] = textsOf(image, 'HEALTHCHECK');
  const [node, , script = ''] = readWords(check);
  t.equal(node, 'node');
  const [, path = ''] = /'(\/\w+)'/.exec(script) ?? [];
  const { app } = await makeWorld(t, { workspaces: [WORKSPACE], projects: [PROJECT] });
  t.equal((await app.inject(path)).statusCode, 200, path);
  t.match(script, `process.env.${SETTINGS.port.name} || ${SETTINGS.port.fallback}`);
});

for (const [file, profiles] of [
  ['compose.yaml', { ordinate: undefined, prometheus: ['prometheus', 'grafana'], grafana: ['grafana'] }],
  [
    'compose.cluster.yaml',
    Object.fromEntries(['node', 'jobs', 'balancer', 'catalog', 'objects', 'limits'].map((name) => [name, undefined])),
  ],
] as const) {
  t.test(`${file}: settings, versions, files, secrets and hardening`, (t) => {
    const text = read(file);
    const { services, configs, volumes } = parse(text, { merge: true }) as Compose;
    t.strictSame(Object.fromEntries(Object.entries(services).map(([name, one]) => [name, one.profiles])), profiles);
    for (const [name, service] of Object.entries(services)) {
      t.match(service.image, /:v?\d+\.\d+(?:\.\d+)?$/, `${name} is pinned`);
      for (const port of service.ports ?? [])
        t.match(port, /^127\.0\.0\.1:\d+:\d+$/, `${name} is for this machine only`);
      // PostgreSQL changes to a user of its own.
      if (name !== 'catalog')
        t.strictSame([service.cap_drop, service.security_opt], [['ALL'], ['no-new-privileges:true']], name);
      for (const { source } of service.configs ?? []) t.ok(configs[source], source);
      for (const volume of (service.volumes ?? []).filter((one) => !one.startsWith('/')))
        t.ok(volume.split(':')[0]! in volumes, volume);
      if (!service.image.startsWith('ordinate')) continue;
      t.equal(service.image, `ordinate:${manifest.version}`);
      t.ok(service.read_only);
      t.strictSame(service.ulimits, { core: 0 });
      t.ok(Number.parseInt(service.stop_grace_period!, 10) > grace, 'it waits longer than the server does');
      t.equal(service.environment?.['ORDINATE_JOBS'], name === 'node' ? 'off' : undefined);
      for (const setting of Object.keys(service.environment!))
        t.ok(settings.includes(setting) || /^(?:PGPASSWORD|AWS_\w+)$/.test(setting), `${setting} is a setting`);
    }
    for (const { file: path } of Object.values(configs))
      if (path !== undefined) t.ok(existsSync(join(ROOT, path)), path);
    for (const secret of text.match(/^.*(?:PASSWORD|SECRET).*$/gm) ?? [])
      t.match(secret, /\$\{\w+:\?[^}]*\}|^#/, 'secrets come from outside, and have no default');
    t.end();
  });
}

t.test('compose: Prometheus is configured as in docs/, with the address of the server', (t) => {
  const { ordinate } = compose.services;
  const inCompose = compose.configs['prometheus']!.content!;
  const target = `ordinate:${ordinate!.environment!['ORDINATE_METRICS_PORT']}`;
  const wanted = read('docs/prometheus/prometheus.yml').replace('127.0.0.1:9464', target);
  t.match(wanted, target);
  t.strictSame(parse(inCompose), parse(wanted));
  t.equal(
    (parse(compose.configs['datasources']!.content!) as { datasources: { url: string }[] }).datasources[0]!.url,
    'http://prometheus:9090',
  );
  t.end();
});

t.test('the unit protects the machine, and leaves the server more time than it takes', (t) => {
  const unit = unitText({ user: 'ordinate', dataFolder: '/var/lib/ordinate', port: 3000, node: '/n', program: '/p' });
  t.ok(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1]) > grace);
  const [, names = ''] = /^Environment=(.*)$/m.exec(unit) ?? [];
  for (const pair of names.split(' ')) t.ok(settings.includes(pair.split('=')[0]!), pair);
  for (const line of [
    `Environment=MALLOC_ARENA_MAX=${ARENAS}`,
    `ExecStart=/n ${YOUNG} /p serve`,
    'ProtectSystem=strict',
    'ProtectHome=yes',
    'StateDirectory=ordinate ordinate-secrets',
    'StateDirectoryMode=0700',
    'UMask=0077',
    'LimitCORE=0',
    'NoNewPrivileges=yes',
    'CapabilityBoundingSet=',
    'SystemCallFilter=@system-service',
    'MemoryDenyWriteExecute=no',
  ]) {
    t.ok(unit.includes(`\n${line}\n`), line);
  }
  t.end();
});
