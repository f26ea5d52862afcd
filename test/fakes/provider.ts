import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import type { Account, Permission } from '../../cli/demo/provider/accounts.ts';
import { type LogEntry, ProviderModel } from '../../cli/demo/provider/provider.ts';
import type { AnalyticsRequest } from '../../cli/demo/provider/request.ts';
import { type Failure, type RunningProvider, startProvider } from '../../cli/demo/provider/server.ts';
import type { SearchType } from '../../server/domain/search-types.ts';
import { temporaryFolder } from '../world.ts';
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

export interface FakeProvider extends RunningProvider {
  readonly model: ProviderModel;
  /** An authorised user's account, which can read nothing until `give` says so, and its credentials file. */
  readonly account: Account;
  readonly credentials: string;
  latency: number;
  /** Called with each request before it is answered, for tests that wait for or hold one. */
  onRequest: (entry: LogEntry) => void | Promise<void>;
  give(property: string, permission?: Permission): void;
  take(property: string): void;
  /** The next requests that `which` is true of fail, so many times. */
  fail(how: Failure, options?: { times?: number; which?: (entry: LogEntry) => boolean }): void;
  /** No more failures. */
  heal(): void;
  /** Requests for data of a search type, by default web, that were answered since the log was last emptied. */
  asked(type?: SearchType | 'all'): Asked[];
  /** Empties the log. */
  forget(): void;
}

/** Starts a provider without properties (`model.addSite`); it ends with the test. */
export async function fakeProvider(
  t: Test,
  { latency = 0, ...clocks }: FakeProviderOptions = {},
): Promise<FakeProvider> {
  const model = new ProviderModel(clocks);
  const account = model.accounts.add({ refreshToken: SECRETS[0]!, sites: new Map() });
  let failures: { how: Failure; times: number; which: (entry: LogEntry) => boolean }[] = [];
  const running = await startProvider(model, {
    latency: () => fake.latency,
    intercept: async (entry) => {
      await fake.onRequest(entry);
      const failure = failures.find(({ times, which }) => times > 0 && which(entry));
      if (failure === undefined) return undefined;
      failure.times -= 1;
      return failure.how;
    },
  });
  t.teardown(() => running.close());
  const fake: FakeProvider = {
    ...running,
    model,
    account,
    credentials: credentialsFile(t),
    latency,
    onRequest: () => {},
    give: (property, permission = 'siteFullUser') => void account.sites.set(property, permission),
    take: (property) => void account.sites.delete(property),
    fail: (how, { times = Number.POSITIVE_INFINITY, which = isQuery } = {}) =>
      void failures.push({ how, times, which }),
    heal: () => {
      failures = [];
    },
    asked: (type = 'web') =>
      model.log
        .filter((entry): entry is Asked => entry.kind === 'query' && entry.status === 200)
        .filter(({ request }) => type === 'all' || request.type === type),
    forget: () => void model.log.splice(0),
  };
  return fake;
}

/** A service account of the provider, and its credentials file. */
export function serviceAccount(t: Test, model: ProviderModel): { account: Account; credentials: string } {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const email = 'ordinate@acme.iam.gserviceaccount.example';
  const credentials = join(temporaryFolder(t), 'service-account.json');
  writeFileSync(credentials, JSON.stringify({ type: 'service_account', client_email: email, private_key: privateKey }));
  return { account: model.accounts.add({ email, publicKey, sites: new Map() }), credentials };
}

function isQuery({ kind }: LogEntry): boolean {
  return kind === 'query';
}
