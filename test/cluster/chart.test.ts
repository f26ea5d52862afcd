// The Helm chart starts nodes and jobs that Kubernetes can check, replace and restart, and has no secret.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parse, parseAllDocuments } from 'yaml';
import { readAddress } from '../../server/catalog/postgres/pool.ts';
import { SETTINGS } from '../../server/settings/table.ts';
import { readS3Address } from '../../server/storage/s3/address.ts';
import { command } from '../command.ts';
import { ROOT } from '../readme.ts';
import { sameAsRecorded } from '../recorded.ts';
import { makeWorld, temporaryFolder } from '../world.ts';

const CHART = join(ROOT, 'docs/helm/ordinate');
const HELM = process.env['HELM'] || 'helm';
const skip = spawnSync(HELM, ['version']).status === 0 ? false : 'helm is not installed (HELM names the program)';
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
/** Seconds that the server waits for running requests after a signal. */
const grace = Number(/const GRACE = (\d+)_000;/.exec(readFileSync(join(ROOT, 'server/main.ts'), 'utf8'))?.[1]);

type Labels = Readonly<Record<string, string>>;

interface Container {
  readonly args: readonly string[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly volumeMounts: readonly { readonly name: string }[];
  readonly [probe: string]: unknown;
}

interface Pod {
  readonly metadata: { readonly labels: Labels };
  readonly spec: {
    readonly terminationGracePeriodSeconds: number;
    readonly initContainers: readonly Container[];
    readonly containers: readonly [Container];
    readonly volumes: readonly { readonly name: string }[];
  };
}

interface Resource {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly template: Pod;
    readonly ports: readonly { readonly port: number }[];
    readonly jobTemplate: { readonly spec: { readonly template: Pod } };
  };
}

const NEEDED = ['catalog.host=db.example', 'storage.url=s3://bucket/some/prefix'];
/** What may be given, or may not. */
const OPTIONS = [
  'catalog.sslmode=require,catalog.caKey=',
  'storage.endpoint=http://objects:7070,storage.region=eu-central-1,storage.secret=keys-of-storage',
  'limits.secret=address-of-redis',
  'credentials=files-of-google',
  'cache.storageClassName=fast',
  'trustedProxies=10.0.0.0/8,publicUrl=https://reports.example',
  'settings.ORDINATE_CACHE=128MB',
  'backup.keep=3,backup.existingClaim=mine',
  'backup.schedule=',
  'catalog.host=',
  'storage.url=',
  'nodes.replica=3',
  'nodes.replicas=two',
  'storage.url=https://bucket',
  'storage.endpoints=http://objects',
  'cache.files=20Gi',
  'cache.volume=30GB',
  'catalog.sslmode=off',
  'catalog.port=0',
  'backup.schedule=daily',
  'backup.keep=0',
  'settings.ordinate_cache=128MB',
  'image.pullPolicy=Sometimes',
  'publicURL=https://reports.example',
];

function render(...values: readonly string[]): { resources: Resource[]; text: string; error: string } {
  const words = [...NEEDED, ...values].flatMap((value) => ['--set', value]);
  const run = spawnSync(HELM, ['template', 'here', CHART, '--kube-version', '1.31.0', ...words], { encoding: 'utf8' });
  const resources = parseAllDocuments(run.stdout, { version: '1.1' }).map((one) => one.toJS() as Resource);
  return { resources, text: run.stdout.replaceAll(version, 'VERSION'), error: run.stderr };
}

/** The documents of a text, by kind and name. */
function documentsIn(text: string): Map<string, string[]> {
  const nameOf = (one: string): string => `${/^kind: (\w+)$/m.exec(one)![1]} ${/^ {2}name: ([\w-]+)$/m.exec(one)![1]}`;
  return new Map(
    text
      .split('---\n')
      .slice(1)
      .map((one) => [nameOf(one), one.trimEnd().split('\n')]),
  );
}

/** What is different from another text, by document. */
function changes(base: string, text: string): string {
  const found = documentsIn(text);
  const without = (lines: readonly string[], others: readonly string[]) =>
    lines.filter((line) => !others.includes(line));
  const parts = [...documentsIn(base)].map(([name, before]) => {
    const after = found.get(name);
    if (after === undefined) return `without ${name}\n`;
    const lines = [
      ...without(before, after).map((line) => `- ${line.trimStart()}\n`),
      ...without(after, before).map((line) => `+ ${line.trimStart()}\n`),
    ];
    return lines.length === 0 ? '' : `${name}\n${lines.join('')}`;
  });
  return parts.join('');
}

t.test('what is made of the least that must be given, and what each option adds and takes away', { skip }, (t) => {
  const base = render().text;
  const shown = OPTIONS.map((option) => {
    const { text, error } = render(option);
    const [, refused = ''] = /(?:nodes\.yaml:\d+:\d+\)|ordinate): *([\s\S]+?)\n*(?:Use --debug|$)/.exec(error) ?? [];
    return `== ${option}\n${text === '' ? `${refused.trim()}\n` : changes(base, text)}`;
  });
  sameAsRecorded(t, 'chart.txt', `${base}\n${shown.join('\n')}`);
  t.match(parse(readFileSync(join(CHART, 'Chart.yaml'), 'utf8')), { version, appVersion: version });
  const words = NEEDED.flatMap((value) => ['--set', value]);
  t.match(spawnSync(HELM, ['lint', '--strict', CHART, ...words]), { status: 0 }, 'helm finds no fault');
  t.end();
});

for (const options of [[], OPTIONS.slice(0, 7)]) {
  t.test(`Ordinate takes what the chart gives it, with ${options.length} options`, { skip }, async (t) => {
    const { resources } = render(...options);
    const { app } = await makeWorld(t);
    const deployments = resources.filter(({ kind }) => kind === 'Deployment');
    t.equal(deployments.length, 2);
    for (const { metadata, spec } of deployments) {
      const { terminationGracePeriodSeconds, containers, initContainers, volumes } = spec.template.spec;
      const [container] = containers;
      t.ok(terminationGracePeriodSeconds > grace + 5, 'running requests and the pause before');
      const ports = new Map(container.ports.map(({ name, containerPort }) => [name, String(containerPort)]));
      if (metadata.name === 'here-nodes') t.equal(ports.get('http'), SETTINGS.port.fallback);
      for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe'].map((name) => container[name])) {
        if (probe === undefined) continue;
        const { path, port } = (probe as { httpGet: { path: string; port: string } }).httpGet;
        t.ok(ports.has(port));
        if (port === 'http') t.equal((await app.inject(path)).statusCode, 200);
        else t.equal(path, '/metrics');
      }
      const env = new Map(container.env.map(({ name, value }) => [name, value]));
      t.equal(env.size, container.env.length, 'each setting once');
      const settings = new Set<string>(Object.values(SETTINGS).map(({ name }) => name));
      t.strictSame(
        [...env.keys()].filter((name) => !settings.has(name) && !/^(?:PGPASSWORD|AWS_\w+)$/.test(name)),
        [],
        'no other names than those of settings',
      );
      t.equal(env.get('ORDINATE_METRICS_PORT'), ports.get('metrics'));
      const address = readAddress(env.get('ORDINATE_CATALOG')!.replace(/&.*/, ''));
      t.match(address, { host: 'db.example', user: 'ordinate', database: 'ordinate' });
      t.match(readS3Address(env.get('ORDINATE_STORAGE')!), { bucket: 'bucket', prefix: 'some/prefix/' });
      const mounted = [...initContainers, container].flatMap((one) => one.volumeMounts.map(({ name }) => name));
      t.strictSame(new Set(mounted), new Set(volumes.map(({ name }) => name)));
    }
  });
}

t.test('a CronJob makes the backup of the guide', { skip }, async (t) => {
  const job = render('backup.keep=3').resources.find(({ kind }) => kind === 'CronJob')!;
  const { args } = job.spec.jobTemplate.spec.template.spec.containers[0];
  const { dataFolder } = await makeWorld(t);
  const target = temporaryFolder(t);
  const words = args.map((word) => (word === '/backup' ? target : word));
  t.match(await command({ ORDINATE_DATA: dataFolder }, ...words), { code: 0 });
  t.match(await command({ ORDINATE_DATA: dataFolder }, 'verify', target), { code: 0 });
});

t.test('the example of Prometheus scrapes what the chart starts', { skip }, (t) => {
  const file = readFileSync(join(ROOT, 'docs/prometheus/prometheus-cluster.yml'), 'utf8');
  const { scrape_configs: scrapes } = parse(file) as {
    scrape_configs: {
      metrics_path?: string;
      kubernetes_sd_configs?: { selectors: { label: string }[] }[];
      relabel_configs?: { source_labels: string[]; regex?: string }[];
      static_configs?: { targets: string[] }[];
    }[];
  };
  const { resources } = render();
  const [processes, catalog] = scrapes;
  const [label, value] = processes!.kubernetes_sd_configs![0]!.selectors[0]!.label.split('=');
  const port = processes!.relabel_configs!.find(({ source_labels: [source] }) => source!.endsWith('port_name'))!.regex;
  for (const { metadata, spec } of resources.filter(({ kind }) => kind === 'Deployment')) {
    t.equal(spec.template.metadata.labels[label!], value, metadata.name);
    t.ok(spec.template.spec.containers[0].ports.some(({ name }) => name === port));
  }
  const service = resources.find(({ metadata }) => metadata.name === 'here-metrics')!;
  t.equal(catalog!.static_configs![0]!.targets[0], `ordinate-metrics:${service.spec.ports[0]!.port}`);
  t.equal(catalog!.metrics_path, '/metrics/catalog');
  t.end();
});
