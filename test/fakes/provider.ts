import type { Test } from 'tap';
import type { Permission } from '../../cli/demo/provider/accounts.ts';
import { type LogEntry, ProviderModel } from '../../cli/demo/provider/provider.ts';
import type { AnalyticsRequest } from '../../cli/demo/provider/request.ts';
import { type Failure, startProvider } from '../../cli/demo/provider/server.ts';
import type { SearchType } from '../../server/model/surfaces.ts';
import { credentialsFile, SECRETS } from './connected.ts';

export interface FakeProviderOptions {
  /** The clock of the provider, in milliseconds; the real one where it is left out. Change `model.now` later. */
  readonly now?: () => number;
  /** The clock of its quotas, in milliseconds; real time where it is left out. */
  readonly clock?: () => number;
  /** Milliseconds that each answer takes. */
  readonly latency?: number;
}

/** A request for data that was answered with rows or none. */
type Asked = LogEntry & { readonly property: string; readonly request: AnalyticsRequest };

/** Which requests fail, and how often. */
interface Failing {
  readonly times?: number;
  readonly which?: (entry: LogEntry) => boolean;
}

const isQuery = ({ kind }: LogEntry): boolean => kind === 'query';

/** Starts a provider without properties (`model.addSite`); it ends with the test. */
export async function fakeProvider(t: Test, { latency = 0, ...clocks }: FakeProviderOptions = {}) {
  const model = new ProviderModel(clocks);
  const account = model.accounts.add({ refreshToken: SECRETS[0]!, sites: new Map() });
  let failures: { how: Failure; times: number; which: (entry: LogEntry) => boolean }[] = [];
  const state = { latency, onRequest: (() => {}) as (entry: LogEntry) => void | Promise<void> };
  const running = await startProvider(model, {
    latency: () => state.latency,
    intercept: async (entry) => {
      await state.onRequest(entry);
      const failure = failures.find(({ times, which }) => times > 0 && which(entry));
      if (failure === undefined) return undefined;
      failure.times -= 1;
      return failure.how;
    },
  });
  t.teardown(() => running.close());
  // `onRequest` is called with each request before it is answered, for tests that wait for or hold one.
  return Object.assign(state, running, {
    model,
    /** An authorised user's account, which can read nothing until `give` says so, and its credentials file. */
    account,
    credentials: credentialsFile(t),
    give: (property: string, permission: Permission = 'siteFullUser') => void account.sites.set(property, permission),
    take: (property: string) => void account.sites.delete(property),
    /** The next requests that `which` is true of fail, so many times. */
    fail: (how: Failure, { times = Number.POSITIVE_INFINITY, which = isQuery }: Failing = {}) =>
      void failures.push({ how, times, which }),
    heal: (): void => {
      failures = [];
    },
    /** Requests for data of a search type that were answered since the log was last emptied. */
    asked: (type: SearchType | 'all' = 'web'): Asked[] =>
      model.log
        .filter((entry): entry is Asked => entry.kind === 'query' && entry.status === 200)
        .filter(({ request }) => type === 'all' || request.type === type),
    /** Empties the log. */
    forget: () => void model.log.splice(0),
  });
}
