/** A module of `server/`: a folder, or a file beside the folders. */
interface Module {
  readonly purpose: string;
  /** The other modules that it imports. */
  readonly imports: readonly string[];
}

/** The modules of `server/`, from the top down. test/imports.test.ts proves them and writes them into ARCHITECTURE.md. */
export const MODULES: Readonly<Record<string, Module>> = {
  workers: {
    purpose: 'several server processes on one port, and the process of background jobs',
    imports: ['main.ts', 'api', 'jobs', 'metrics', 'catalog', 'runtime', 'settings'],
  },
  'main.ts': {
    purpose: 'one server process: opens the stores, builds the server, listens, stops in order',
    imports: ['app.ts', 'api', 'jobs', 'metrics', 'catalog', 'facts', 'runtime', 'settings'],
  },
  'app.ts': {
    purpose: 'builds the whole server without listening, in production and in tests',
    imports: [
      ...['dashboard', 'mcp', 'metrics', 'api', 'formats', 'presets'],
      ...['sandbox', 'lists', 'load', 'facts', 'catalog', 'runtime', 'settings'],
    ],
  },
  dashboard: {
    purpose: 'the web page at `/app`: sessions, files, what members do; `client/` runs in the browser',
    imports: [
      ...['api', 'formats', 'presets', 'projects', 'channels', 'alerts', 'sync', 'query', 'lists', 'load'],
      ...['operations', 'facts', 'catalog', 'domain', 'model', 'runtime'],
    ],
  },
  operations: {
    purpose: 'what members do, declared once: fields, rights, what is audited; routes are made from it',
    imports: ['api', 'presets', 'channels', 'projects', 'alerts', 'load', 'catalog', 'domain', 'runtime', 'settings'],
  },
  mcp: {
    purpose: 'the MCP server at `/mcp`, over the presets of the API',
    imports: ['api', 'formats', 'presets', 'catalog', 'domain', 'model', 'runtime'],
  },
  metrics: {
    purpose: 'metrics for Prometheus, and traces',
    imports: ['api', 'catalog', 'domain', 'runtime', 'settings'],
  },
  api: {
    purpose: 'HTTP: routes, keys, limits, errors, caching, health, documentation',
    imports: [...['sandbox', 'formats', 'presets'], ...['facts', 'catalog', 'storage', 'domain', 'runtime']],
  },
  sandbox: {
    purpose: 'SQL of clients, each statement in a process that is limited, isolated and killed',
    imports: ['load', 'catalog', 'storage', 'domain', 'model', 'runtime'],
  },
  jobs: {
    purpose: 'background jobs: what they do, when they run, in which process',
    imports: [
      ...['channels', 'presets', 'maintenance', 'alerts', 'sync', 'lists', 'load', 'query'],
      ...['providers', 'catalog', 'domain', 'runtime', 'settings'],
    ],
  },
  channels: {
    purpose: 'what is sent to whom: addresses, formats, signatures, mail',
    imports: ['presets', 'catalog', 'domain', 'runtime', 'settings'],
  },
  presets: {
    purpose: 'kinds of answers: endpoint, schema and examples; parse, plan, run; formats',
    imports: [
      ...['formats', 'query', 'lists', 'providers', 'findings', 'effects'],
      ...['facts', 'catalog', 'storage', 'domain', 'model', 'runtime', 'settings'],
    ],
  },
  projects: {
    purpose: 'projects: how they are made, connected and set; tracked queries and brand terms, many at a time',
    imports: ['providers', 'load', 'facts', 'catalog', 'storage', 'domain', 'runtime', 'settings'],
  },
  import: {
    purpose: 'exports of the user interface and pulls of the API → a snapshot',
    imports: ['load', 'facts', 'catalog', 'storage', 'domain', 'model', 'runtime'],
  },
  export: {
    purpose: 'what is stored → a snapshot',
    imports: ['load', 'facts', 'catalog', 'storage', 'domain', 'runtime', 'settings'],
  },
  maintenance: {
    purpose: 'backups, retention, `verify`, `rebuild`, copies to other stores',
    imports: ['alerts', 'load', 'query', 'facts', 'catalog', 'storage', 'domain', 'model', 'runtime'],
  },
  sync: {
    purpose: 'fills connected projects: plan, fetch, publish',
    imports: ['providers', 'load', 'facts', 'catalog', 'storage', 'domain', 'model', 'runtime', 'settings'],
  },
  alerts: {
    purpose: 'rules, and the replay of days that opens and resolves alerts',
    imports: ['query', 'facts', 'catalog', 'storage', 'domain', 'model', 'runtime'],
  },
  effects: {
    purpose: 'whether a change helped: clicks against what controls make expect, judged by placebos; pure',
    imports: ['domain'],
  },
  lists: {
    purpose: 'page and query lists: choose a source, fetch once, store, read by page',
    imports: ['formats', 'query', 'providers', 'facts', 'catalog', 'storage', 'domain', 'model', 'runtime', 'settings'],
  },
  formats: {
    purpose: 'row sets → bytes: JSON, CSV, NDJSON, Arrow, Parquet',
    imports: ['query', 'domain', 'runtime'],
  },
  query: {
    purpose: 'one engine: a query or question → plan → sums → rows with their comparisons and quality; what is refused',
    imports: ['facts', 'catalog', 'storage', 'domain', 'model', 'runtime', 'settings'],
  },
  providers: {
    purpose: 'all requests to providers: clients, sign-in, limits, retries, failures',
    imports: ['catalog', 'domain', 'model', 'runtime', 'settings'],
  },
  load: {
    purpose: 'snapshot or bulk export → staged → checked → written → published',
    imports: ['facts', 'catalog', 'storage', 'domain', 'model', 'runtime', 'settings'],
  },
  findings: {
    purpose: 'the statistics of findings: what differs from what a site usually does',
    imports: [],
  },
  facts: {
    purpose: 'queries over stored measures, answered by DuckDB or Trino',
    imports: ['storage', 'domain', 'model', 'runtime', 'settings'],
  },
  catalog: {
    purpose: 'entities and the manifest of files, in SQLite or PostgreSQL',
    imports: ['storage', 'domain', 'model', 'runtime'],
  },
  storage: {
    purpose: 'immutable files, in the data folder or an object store',
    imports: ['domain', 'runtime', 'settings'],
  },
  runtime: {
    purpose: 'helpers that know no facts: locks, limits, single flight, timing, work in steps',
    imports: ['domain'],
  },
  domain: { purpose: 'pure rules: days, ranges, metrics, groups, errors', imports: ['model'] },
  model: { purpose: 'what facts are, as data: surfaces, tables, dimensions, measures', imports: [] },
  settings: { purpose: 'the table of settings, read from the environment', imports: [] },
};

/** The packages that only some modules may import. */
export const RESERVED: Readonly<Record<string, string>> = {
  '@duckdb/node-api': 'facts sandbox',
  '@duckdb/node-bindings': 'facts',
  'node:sqlite': 'catalog runtime storage',
  '@aws-sdk/client-s3': 'storage',
  '@aws-sdk/lib-storage': 'storage',
  pg: 'catalog',
  nodemailer: 'channels',
  'ipaddr.js': 'channels',
  '@google-cloud/bigquery': 'providers',
  '@googleapis/searchconsole': 'providers',
  'google-auth-library': 'providers',
  'node-fetch': 'providers',
  '@redis/client': 'api',
  'apache-arrow': 'formats',
  '@modelcontextprotocol/server': 'mcp',
  'prom-client': 'metrics',
  '@fastify/otel': 'metrics',
  '@opentelemetry/api': 'metrics',
  '@opentelemetry/exporter-trace-otlp-http': 'metrics',
  '@opentelemetry/sdk-trace-node': 'metrics',
};

/** The table of modules for ARCHITECTURE.md. */
export function moduleTable(): string {
  const rows = Object.entries(MODULES).map(([name, { purpose }]) => `| \`${folderOf(name)}\` | ${purpose} |`);
  return `| module | purpose |\n| --- | --- |\n${rows.join('\n')}`;
}

/** The diagram of modules for ARCHITECTURE.md: an arrow leads to each imported module that no other one leads to. */
export function moduleDiagram(): string {
  const arrows = Object.entries(MODULES).flatMap(([name, { imports }]) => {
    const below = imports.flatMap((one) => [...reachedFrom(one)]);
    const nearest = imports.filter((one) => !below.includes(one));
    return nearest.length === 0 ? [] : [`  ${name} --> ${nearest.join(' & ')}`];
  });
  return `\`\`\`mermaid\nflowchart TD\n${arrows.join('\n')}\n\`\`\``;
}

/** What a module imports, and what these import in turn. */
function reachedFrom(name: string): Set<string> {
  const imports = MODULES[name]?.imports ?? [];
  return new Set([...imports, ...imports.flatMap((one) => [...reachedFrom(one)])]);
}

const folderOf = (name: string): string => `server/${name}${name.endsWith('.ts') ? '' : '/'}`;
