// The Helm chart starts nodes and jobs that Kubernetes can check, replace and restart, and has no secret.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parse, parseAllDocuments } from 'yaml';
import { readAddress } from '../../server/catalog/postgres/address.ts';
import { SETTINGS } from '../../server/settings/table.ts';
import { readS3Address } from '../../server/storage/s3/address.ts';
import { command } from '../command.ts';
import { ROOT } from '../readme.ts';
import { makeWorld, PROJECT, temporaryFolder, WORKSPACE } from '../world.ts';

const CHART = join(ROOT, 'docs/helm/ordinate');
const HELM = process.env['HELM'] || 'helm';
const skip = spawnSync(HELM, ['version']).status === 0 ? false : 'helm is not installed (HELM names the program)';
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
const settings: readonly string[] = Object.values(SETTINGS).map(({ name }) => name);
/** Seconds that the server waits for running requests after a signal. */
const grace = Number(/const GRACE = (\d+)_000;/.exec(readFileSync(join(ROOT, 'server/main.ts'), 'utf8'))?.[1]);

type Labels = Readonly<Record<string, string>>;

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
  readonly timeoutSeconds?: number;
}

interface Container {
  readonly name: string;
  readonly image: string;
  readonly args?: readonly string[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly env?: readonly {
    readonly name: string;
    readonly value?: string;
    readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly key: string } };
  }[];
  readonly startupProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly securityContext: object;
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string; readonly readOnly?: boolean }[];
}

interface Pod {
  readonly metadata: { readonly labels: Labels };
  readonly spec: {
    readonly terminationGracePeriodSeconds: number;
    readonly serviceAccountName: string;
    readonly securityContext: object;
    readonly initContainers: readonly Container[];
    readonly containers: readonly Container[];
    readonly restartPolicy?: string;
    readonly volumes: readonly {
      readonly name: string;
      readonly secret?: { readonly secretName: string };
      readonly persistentVolumeClaim?: { readonly claimName: string };
    }[];
  };
}

interface Resource {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly annotations?: Labels };
  readonly spec: {
    readonly selector: { readonly matchLabels: Labels } & Labels;
    readonly template: Pod;
    readonly strategy: object;
    readonly replicas: number;
    readonly maxUnavailable: number;
    readonly ports: readonly { readonly port: number; readonly targetPort: string }[];
    readonly schedule: string;
    readonly concurrencyPolicy: string;
    readonly jobTemplate: { readonly spec: { readonly template: Pod } };
  };
}

const NEEDED = { 'catalog.host': 'db.example', 'storage.url': 's3://bucket/some/prefix' };

function render(values: Labels): { resources: Resource[]; text: string; error: string } {
  const words = Object.entries(values).flatMap(([name, value]) => ['--set', `${name}=${value}`]);
  const run = spawnSync(HELM, ['template', 'here', CHART, '--kube-version', '1.31.0', ...words], { encoding: 'utf8' });
  const resources = parseAllDocuments(run.stdout, { version: '1.1' }).map((one) => one.toJS() as Resource);
  return { resources, text: run.stdout, error: run.stderr };
}

t.test('the chart has the version of the package', (t) => {
  const chart = parse(readFileSync(join(CHART, 'Chart.yaml'), 'utf8')) as { version: string; appVersion: string };
  t.match(chart, { version, appVersion: version });
  t.end();
});

t.test('what must be given is named where it is missing, and helm finds no fault', { skip }, (t) => {
  const words = Object.entries(NEEDED).flatMap(([name, value]) => ['--set', `${name}=${value}`]);
  const lint = spawnSync(HELM, ['lint', '--strict', CHART, ...words], { encoding: 'utf8' });
  t.equal(lint.status, 0, lint.stdout);
  t.match(render({ 'storage.url': 's3://bucket' }).error, /catalog\.host must be/);
  t.match(render({ 'catalog.host': 'db' }).error, /storage\.url must be/);
  t.end();
});

for (const [title, values] of Object.entries({
  'what is needed': NEEDED,
  'all options': {
    ...NEEDED,
    'catalog.sslmode': 'require',
    'catalog.caKey': '',
    'storage.endpoint': 'http://objects:7070',
    'storage.region': 'eu-central-1',
    'storage.secret': 'keys-of-storage',
    'limits.secret': 'address-of-redis',
    credentials: 'files-of-google',
    'cache.storageClassName': 'fast',
    trustedProxies: '10.0.0.0/8',
    publicUrl: 'https://reports.example',
    'settings.ORDINATE_CACHE': '128MB',
  },
})) {
  t.test(title, { skip }, async (t) => {
    const { resources, error } = render(values);
    t.equal(error, '');
    const named = (kind: string): Resource[] => resources.filter((resource) => resource.kind === kind);
    const [deployments, budgets, services, accounts] = [
      named('Deployment'),
      named('PodDisruptionBudget'),
      named('Service'),
      named('ServiceAccount'),
    ];
    t.strictSame(deployments.map(({ metadata }) => metadata.name).sort(), ['here-jobs', 'here-nodes']);
    const { app } = await makeWorld(t, { workspaces: [WORKSPACE], projects: [PROJECT] });
    for (const { metadata, spec } of deployments) {
      const { template } = spec;
      const isNode = metadata.name === 'here-nodes';
      const container = template.spec.containers[0]!;
      t.match(template.metadata.labels, spec.selector.matchLabels, 'it finds its pods');
      t.match(spec.strategy, { rollingUpdate: { maxUnavailable: 0 } }, 'the old one goes last');
      t.equal(template.spec.serviceAccountName, accounts[0]!.metadata.name);
      t.ok(template.spec.terminationGracePeriodSeconds > grace + 5, 'running requests and the pause before');
      t.strictSame(container.args, [isNode ? 'serve' : 'work']);

      const ports = new Map(container.ports!.map(({ name, containerPort }) => [name, String(containerPort)]));
      if (isNode) t.equal(ports.get('http'), SETTINGS.port.fallback);
      const probes = [container.startupProbe, container.livenessProbe, container.readinessProbe];
      for (const probe of probes.filter((one) => one !== undefined)) {
        t.ok(ports.has(probe.httpGet.port));
        if (probe.httpGet.port === 'http') t.equal((await app.inject(probe.httpGet.path)).statusCode, 200);
        else t.equal(probe.httpGet.path, '/metrics');
      }
      t.equal(container.readinessProbe !== undefined, isNode);
      t.not(container.livenessProbe!.httpGet.path, '/readyz', 'a store that is away is no reason to restart');
      if (isNode) t.ok(container.readinessProbe!.timeoutSeconds! >= 15, 'as docs/cluster.md asks of balancers');

      const env = new Map(container.env!.map((one) => [one.name, one]));
      t.equal(env.size, container.env!.length, 'each setting once');
      for (const name of env.keys())
        t.ok(settings.includes(name) || /^(?:PGPASSWORD|AWS_\w+)$/.test(name), `${name} is a setting`);
      for (const name of ['PGPASSWORD', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'ORDINATE_LIMITS'])
        t.equal(env.get(name)?.value, undefined, `${name} is a secret`);
      t.equal(env.get('ORDINATE_METRICS_PORT')?.value, ports.get('metrics'));
      t.equal(env.get('ORDINATE_JOBS')?.value, isNode ? 'off' : undefined);
      const address = env.get('ORDINATE_CATALOG')!.value!;
      t.match(
        address,
        `sslmode=${'catalog.sslmode' in values ? 'require' : 'verify-full&sslrootcert=/catalog/ca.crt'}`,
      );
      t.match(readAddress(address.replace(/&.*/, '')), { host: 'db.example', user: 'ordinate', database: 'ordinate' });
      t.match(readS3Address(env.get('ORDINATE_STORAGE')!.value!), { bucket: 'bucket', prefix: 'some/prefix/' });
      if ('settings.ORDINATE_CACHE' in values) t.equal(env.get('ORDINATE_CACHE')!.value, '128MB');

      const all = [...template.spec.initContainers, container];
      const volumes = template.spec.volumes.map(({ name }) => name);
      t.strictSame(new Set(all.flatMap((one) => one.volumeMounts.map(({ name }) => name))), new Set(volumes));
      for (const path of ['/data', '/tmp', '/secrets'])
        t.ok(
          container.volumeMounts.some(({ mountPath, readOnly }) => mountPath === path && readOnly !== true),
          path,
        );
      t.match(template.spec.securityContext, { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
      for (const { image, securityContext } of all) {
        t.equal(image, `ordinate:${version}`);
        t.match(securityContext, {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
      }
    }
    const nodes = deployments.find(({ metadata }) => metadata.name === 'here-nodes')!.spec;
    t.ok(nodes.replicas > 1);
    for (const { metadata, spec } of deployments) {
      const budget = budgets.find((one) => one.metadata.name === metadata.name);
      t.match(budget, {
        spec: { maxUnavailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow', selector: spec.selector },
      });
    }
    const ports = services.map(({ metadata, spec }) => {
      t.strictSame(spec.selector as Labels, nodes.selector.matchLabels);
      return [metadata.name, spec.ports[0]!.targetPort];
    });
    t.strictSame(ports, [
      ['here', 'http'],
      ['here-metrics', 'metrics'],
    ]);
  });
}

t.test('what a value may not be is refused, and a name that there is not', { skip }, (t) => {
  const wrong: Labels = {
    'nodes.replica': '3',
    'nodes.replicas': 'two',
    'storage.url': 'https://bucket',
    'storage.endpoints': 'http://objects',
    'cache.files': '20Gi',
    'cache.volume': '30GB',
    'catalog.sslmode': 'off',
    'catalog.port': '0',
    'backup.schedule': 'daily',
    'backup.keep': '0',
    'settings.ordinate_cache': '128MB',
    'image.pullPolicy': 'Sometimes',
    publicURL: 'https://reports.example',
  };
  for (const [name, value] of Object.entries(wrong)) {
    const { error, text } = render({ ...NEEDED, [name]: value });
    t.match(error, /values don't meet the specifications of the schema/, `${name}=${value}`);
    t.equal(text, '');
  }
  t.end();
});

t.test('a CronJob makes the backup of the guide, into a volume that stays', { skip }, async (t) => {
  const { resources } = render({ ...NEEDED, 'backup.keep': '3' });
  const job = resources.find(({ kind }) => kind === 'CronJob')!;
  t.match(job.spec, { schedule: /^\d+ \d+ \* \* \*$/, concurrencyPolicy: 'Forbid' });
  const { spec, metadata } = job.spec.jobTemplate.spec.template;
  t.equal(spec.restartPolicy, 'Never');
  t.equal(metadata.labels['app.kubernetes.io/component'], 'backup');
  const container = spec.containers[0]!;
  t.equal(container.livenessProbe, undefined);
  const volume = spec.volumes.find(({ name }) => name === 'backup')!;
  t.ok(container.volumeMounts.some(({ name, mountPath }) => name === 'backup' && mountPath === '/backup'));
  const claim = resources.find(({ kind }) => kind === 'PersistentVolumeClaim')!;
  t.equal(volume.persistentVolumeClaim!.claimName, claim.metadata.name);
  t.equal(claim.metadata.annotations!['helm.sh/resource-policy'], 'keep');

  const { dataFolder } = await makeWorld(t, { workspaces: [WORKSPACE], projects: [PROJECT] });
  const target = temporaryFolder(t);
  const words = container.args!.map((word) => (word === '/backup' ? target : word));
  t.match(await command({ ORDINATE_DATA: dataFolder }, ...words), { code: 0 });
  t.match(await command({ ORDINATE_DATA: dataFolder }, 'verify', target), { code: 0 });

  const ofMine = render({ ...NEEDED, 'backup.existingClaim': 'mine' });
  t.match(ofMine.text, 'claimName: mine');
  t.notMatch(ofMine.text, 'kind: PersistentVolumeClaim');
  t.notMatch(render({ ...NEEDED, 'backup.schedule': '' }).text, /CronJob|PersistentVolumeClaim/);
  t.end();
});

t.test('the example of Prometheus scrapes what the chart starts', { skip }, (t) => {
  const file = readFileSync(join(ROOT, 'docs/prometheus/prometheus-cluster.yml'), 'utf8');
  const { scrape_configs: scrapes } = parse(file) as {
    scrape_configs: {
      job_name: string;
      metrics_path?: string;
      kubernetes_sd_configs?: { selectors: { label: string }[] }[];
      relabel_configs?: { source_labels: string[]; regex?: string }[];
      static_configs?: { targets: string[] }[];
    }[];
  };
  const { resources } = render(NEEDED);
  const [processes, catalog] = scrapes;
  const [label, value] = processes!.kubernetes_sd_configs![0]!.selectors[0]!.label.split('=');
  const port = processes!.relabel_configs!.find(({ source_labels: [source] }) => source!.endsWith('port_name'))!.regex;
  for (const { metadata, spec } of resources.filter(({ kind }) => kind === 'Deployment')) {
    t.equal(spec.template.metadata.labels[label!], value, metadata.name);
    t.ok(spec.template.spec.containers[0]!.ports!.some(({ name }) => name === port));
  }
  const service = resources.find(({ metadata }) => metadata.name === 'here-metrics')!;
  t.equal(catalog!.static_configs![0]!.targets[0], `ordinate-metrics:${service.spec.ports[0]!.port}`);
  t.equal(catalog!.metrics_path, '/metrics/catalog');
  t.end();
});
