import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { CLIENT_ID, CLIENT_SECRET, type Decision, type FakeGoogle, fakeGoogle } from '../fakes/google.ts';
import { NOW, type Tables, temporaryFolder } from '../world.ts';
import { makeTeam } from './team.ts';

export const PUBLIC_URL = 'http://localhost';
export const CALLBACK = '/app/connect/google/callback';

/** What the callback got and answered. */
export interface Called {
  readonly status: number;
  readonly location: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

/** A team whose server knows an OAuth client of a fake Google. */
export async function connectedTeam(
  t: Test,
  {
    google,
    environment = {},
    tables = {},
  }: { google?: FakeGoogle; environment?: NodeJS.ProcessEnv; tables?: Tables } = {},
) {
  const fake = google ?? (await fakeGoogle(t, { now: () => NOW }));
  const folder = temporaryFolder(t);
  const secretFile = join(folder, 'client-secret');
  writeFileSync(secretFile, `${CLIENT_SECRET}\n`);
  const keyFile = join(folder, 'keys', 'secrets.key');
  const settings = {
    ORDINATE_PUBLIC_URL: PUBLIC_URL,
    ORDINATE_GOOGLE_CLIENT_ID: CLIENT_ID,
    ORDINATE_GOOGLE_CLIENT_SECRET_FILE: secretFile,
    ORDINATE_GOOGLE_ENDPOINT: fake.origin,
    ORDINATE_SECRETS_KEY_FILE: keyFile,
    ORDINATE_PROVIDER_REQUESTS_PER_SECOND: '1000',
    ORDINATE_LISTS_WAIT_SECONDS: '1',
    ...environment,
  };
  const team = await makeTeam(t, tables, settings);
  /** Starts, and agrees or not; returns the address of the callback and the cookie for it. */
  const agree = async (decision: Decision = { answer: 'allow' }, who: 'owner' | 'other' = 'owner') => {
    const { body, headers } = await team.send(who, 'POST', '/connect/google', {});
    const cookie = String(headers['set-cookie']).split(';')[0]!;
    fake.decision = decision;
    const consent = await fetch(body.url, { redirect: 'manual' });
    const back = new URL(consent.headers.get('location')!);
    return { path: `${back.pathname}${back.search}`, cookie, url: new URL(body.url), back };
  };
  const call = async (path: string, cookie?: string): Promise<Called> => {
    const headers = { host: 'localhost', 'sec-fetch-site': 'cross-site', ...(cookie === undefined ? {} : { cookie }) };
    const response = await team.app.inject({ method: 'GET', url: path, headers });
    return { status: response.statusCode, location: String(response.headers.location), headers: response.headers };
  };
  /** Connects an account; returns the id of the grant. */
  const connect = async (decision: Decision = { answer: 'allow' }, who: 'owner' | 'other' = 'owner') => {
    const { path, cookie } = await agree(decision, who);
    const { location } = await call(path, cookie);
    return location.replace('/app/connect?grant=', '');
  };
  return { ...team, google: fake, environment: settings, keyFile, agree, call, connect };
}
