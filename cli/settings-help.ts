import { SETTINGS } from '../server/settings/table.ts';
import type { Setting, Use } from '../server/settings/values.ts';

const LOAD: readonly Use[] = ['catalog', 'files', 'duckdb', 'facts'];
const JOBS: readonly Use[] = [...LOAD, 'lists', 'providers', 'sync', 'retention', 'jobs', 'delivery'];
const SERVER: readonly Use[] = [...JOBS, 'address', 'feeds', 'channels', 'server'];

/** What each command uses; unlisted commands use what their group uses, or only the catalog. */
const USES: Readonly<Record<string, readonly Use[]>> = {
  '': SERVER,
  serve: SERVER,
  demo: SERVER,
  'install-service': SERVER,
  work: JOBS,
  describe: [],
  load: LOAD,
  import: LOAD,
  export: ['catalog', 'files', 'duckdb'],
  'workspaces remove': ['catalog', 'files'],
  login: ['catalog', 'address'],
  'feeds create': ['catalog', 'address', 'feeds'],
  properties: ['catalog', 'providers'],
  'projects create': [...LOAD, 'providers', 'sync'],
  'projects set': [...LOAD, 'providers'],
  'projects remove': ['catalog', 'files'],
  'keywords add': [...LOAD, 'providers'],
  'keywords archive': ['catalog', 'files'],
  'connections test': ['catalog', 'providers'],
  lists: [...LOAD, 'lists', 'providers'],
  storage: ['catalog', 'files'],
  secrets: ['catalog', 'secrets'],
  channels: ['catalog', 'channels'],
  'channels digest': [...LOAD, 'lists', 'providers', 'channels'],
  sync: [...LOAD, 'providers', 'sync'],
  'sync status': ['catalog'],
  'alerts evaluate': LOAD,
  'rules add': ['catalog', 'files'],
  'rules remove': ['catalog', 'files'],
  'rules test': LOAD,
  prune: [...LOAD, 'retention'],
  backup: ['catalog', 'files'],
  'backup list': ['catalog'],
  trino: ['catalog', 'files', 'facts'],
  verify: [...LOAD, 'providers', 'sync'],
  rebuild: ['catalog', 'files'],
};

/** The part of a command's help that lists the settings which it reads. @param command its name, as `keys create` */
export function settingsHelp(command: string): string {
  const uses = USES[command] ?? USES[command.split(' ')[0]!] ?? ['catalog'];
  const settings = Object.values<Setting<unknown>>(SETTINGS).filter((setting) =>
    setting.uses.some((use) => use === 'all' || uses.includes(use)),
  );
  const lines = settings.map(({ name, help, shown }) => `  ${name.padEnd(29)} ${help} [${shown}]`);
  return `\nSettings, from the environment:\n${lines.join('\n')}`;
}
