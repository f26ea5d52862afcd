import type { Test } from 'tap';
import type { Connection } from '../../server/catalog/connections.ts';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { openUsage } from '../../server/catalog/open-usage.ts';
import type { ProviderJob } from '../../server/providers/gateway.ts';
import { Providers } from '../../server/providers/providers.ts';
import type { ProviderRun } from '../../server/providers/retries.ts';
import type { Demand } from '../../server/providers/slots.ts';
import { readSettings } from '../../server/settings/settings.ts';
import { NOW, temporaryFolder } from '../world.ts';
import { credentialsFile } from './connected.ts';
import { fakeSearchConsole } from './search-console.ts';

export type ProvidersWorld = Awaited<ReturnType<typeof providersWorld>>;

export const PROPERTY = 'sc-domain:shop.example';

/** The providers of a process, with a connection to a fake reporting API. */
export async function providersWorld(
  t: Test,
  environment: NodeJS.ProcessEnv = {},
  dataFolder = temporaryFolder(t),
  now: () => number = () => NOW,
) {
  const google = await fakeSearchConsole(t);
  const settings = readSettings({ ...environment, ORDINATE_DATA: dataFolder });
  const opened = new AsyncDisposableStack();
  t.teardown(() => opened.disposeAsync());
  const catalog = opened.adopt(await openCatalog(settings), (it) => it.close());
  const usage = opened.adopt(
    openUsage(settings, (error) => t.fail(String(error))),
    (it) => it.close(),
  );
  const log: object[] = [];
  const keep = (line: unknown): void => void log.push(line as object);
  const providers = new Providers({ catalog, usage, settings, log: { info: keep, warn: keep }, now });
  opened.defer(() => providers.gateway.stop());
  const connection: Connection = {
    ...{
      kind: 'search-console',
      credentials: credentialsFile(t),
      endpoint: google.url,
      tokenEndpoint: google.tokenUrl,
    },
    ...{ dataset: null, location: null, grant: null, archive: 'queries,pages' },
  };
  /** Runs work about a property as the service does, for a client that waits. */
  const run = <T>(work: (run: ProviderRun) => Promise<T>, job: Partial<ProviderJob> = {}): Promise<T> => {
    const demand = (): Demand => 'client';
    const of = { provider: 'search-console', property: PROPERTY, what: 'rows', line: {} };
    return providers.gateway.run({ ...of, demand, retryShare: 1, pauseAfterFailure: 0, ...job }, work, () => ({}));
  };
  return { google, providers, connection, run, dataFolder, log };
}
