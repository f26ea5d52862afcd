import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { type BingFailure, fakeBing } from '../fakes/bing.ts';
import { restoreClock, stopClock } from '../fakes/fake-clock.ts';
import { CLIENT_ID, CLIENT_SECRET, type Decision, type FakeGoogle, fakeGoogle } from '../fakes/google.ts';
import { withoutPauses } from '../fakes/without-pauses.ts';
import { parsed } from '../rows.ts';
import { makeSearches, NOW, PROPERTY } from '../sync/sync-world.ts';
import { temporaryFolder } from '../world.ts';
import type { makeTeam, Who } from './team.ts';

const SITE = 'https://www.shop.example/';
/** A sync gets so many answers after `google answers few`: the newest days only. */
const FEW = 14;

/** Somebody at the provider's page of consent: what leads back, and the cookie for it. */
interface Attempt {
  readonly back: URL;
  readonly cookie: string;
}

/**
 * Google and Bing of a dialogue. Its lines:
 *   who agrees [{}]                    starts, and decides on the page of consent
 *   attempt-1 comes back [{}]          with another `cookie`, or parameters of its address; those of `attempt-2` by that name
 *   who connects [{}]                  both
 *   google {}                          fields of the fake; `google ends all`, `google answers few`
 *   bing {}                            `failure` in place of answers
 *   asked                              what the providers were asked since the last time
 *   file of keys is away, or back
 *   commands are 2 days later          than the dialogue began: a session would have ended
 */
export class Providers {
  readonly environment: NodeJS.ProcessEnv;
  /** When the dialogue begins. */
  readonly begins: number = NOW;
  readonly #google: FakeGoogle;
  readonly #bing: Awaited<ReturnType<typeof fakeBing>>;
  readonly #keyFile: string;
  readonly #attempts: Attempt[] = [];
  readonly #bingKeys = new Set<string>();

  private constructor(t: Test, google: FakeGoogle, bing: Awaited<ReturnType<typeof fakeBing>>) {
    const folder = temporaryFolder(t);
    const secretFile = join(folder, 'client-secret');
    writeFileSync(secretFile, `${CLIENT_SECRET}\n`);
    this.#keyFile = join(folder, 'keys', 'secrets.key');
    this.#google = google;
    this.#bing = bing;
    this.environment = {
      ORDINATE_PUBLIC_URL: 'http://localhost',
      ORDINATE_GOOGLE_CLIENT_ID: CLIENT_ID,
      ORDINATE_GOOGLE_CLIENT_SECRET_FILE: secretFile,
      ORDINATE_GOOGLE_ENDPOINT: google.origin,
      ORDINATE_BING_ENDPOINT: bing.url,
      ORDINATE_SECRETS_KEY_FILE: this.#keyFile,
      ORDINATE_PROVIDER_REQUESTS_PER_SECOND: '1000',
      ORDINATE_LISTS_WAIT_SECONDS: '1',
    };
  }

  static async start(t: Test): Promise<Providers> {
    stopClock(NOW);
    t.teardown(restoreClock);
    withoutPauses(t);
    const google = await fakeGoogle(t, { now: () => NOW });
    google.provider.model.addSite(PROPERTY, makeSearches());
    google.provider.model.addSite(SITE, makeSearches());
    google.sites
      .set(PROPERTY, 'siteOwner')
      .set(SITE, 'siteRestrictedUser')
      .set('sc-domain:no.example', 'siteUnverifiedUser');
    const bing = await fakeBing(t, '2026-03-15');
    bing.sites.push({ url: SITE, isVerified: true });
    bing.searches.push({ day: '2026-03-13', query: 'a', url: SITE, clicks: 3, impressions: 30, position: 3 });
    return new Providers(t, google, bing);
  }

  /** Names of what they make by chance. */
  names(): readonly (readonly [value: string, kind: string])[] {
    return [
      [this.#google.origin, 'google'],
      [this.#bing.url, 'bing'],
      [this.#keyFile, 'secrets-key-file'],
      [this.#bing.keyFile, 'bing-key-file'],
    ];
  }

  /** All that nobody may read. */
  secrets(): string[] {
    const cookies = this.#attempts.map(({ cookie }) => cookie.split('=')[1]!);
    return [...this.#google.secrets, ...cookies, this.#bing.key, ...this.#bingKeys];
  }

  /** Output of a command without its log, and without how far a sync came. */
  withoutChance(output: string): string {
    return output
      .replaceAll(/^\{"level".*\n/gm, '')
      .replaceAll(/(?<=\S) {3,}/g, '  ')
      .replaceAll(/^(\S+)(?: {2}[\d.]+){5}(?= {2}[a-z])/gm, '$1  …');
  }

  /** What a line leads to; undefined if it is about no provider. */
  async say(line: string, team: Awaited<ReturnType<typeof makeTeam>>): Promise<string[] | undefined> {
    const [, who, act, more = '{}'] = /^(\w+) (agrees|connects)(?: (.*))?$/.exec(line) ?? [];
    if (act !== undefined) {
      const told = await this.#agree(team, who as Who, parsed(more) as Partial<Decision>);
      return act === 'agrees' ? told : this.#comeBack(team, this.#attempts.length - 1, {});
    }
    const [, attempt, changes = '{}'] = /^attempt-(\d+) comes back(?: (.*))?$/.exec(line) ?? [];
    if (attempt !== undefined)
      return this.#comeBack(team, Number(attempt) - 1, parsed(changes) as Record<string, string | null>);
    const [, days] = /^commands are (\d+) days later$/.exec(line) ?? [];
    if (days !== undefined) {
      stopClock(NOW + Number(days) * 86_400_000);
      return [];
    }
    const [, name, given = ''] = /^(google|bing|file of keys|asked) ?(.*)$/.exec(line) ?? [];
    if (name === undefined) return undefined;
    if (name === 'asked') return [`  ${this.#asked()}`];
    if (name === 'google') this.#change(given);
    else if (name === 'bing') this.#changeBing(parsed(given) as object);
    else {
      const away = `${this.#keyFile}.away`;
      if (given === 'is away') renameSync(this.#keyFile, away);
      else renameSync(away, this.#keyFile);
    }
    return [];
  }

  async #agree(team: Awaited<ReturnType<typeof makeTeam>>, who: Who, decision: Partial<Decision>): Promise<string[]> {
    team.clock.at += 1000;
    const { status, body, headers, message } = await team.send(who, 'POST', '/connect/google', {});
    if (status >= 300) return [`  ${status} ${message}`];
    this.#google.decision = { answer: 'allow', ...decision };
    const url = new URL(body.url);
    const consent = await fetch(url, { redirect: 'manual' });
    const back = new URL(consent.headers.get('location')!);
    const set = String(headers['set-cookie']);
    this.#attempts.push({ back, cookie: set.split(';')[0]! });
    const led = `  attempt-${this.#attempts.length} is led to ${back.origin}${back.pathname}`;
    // What is asked for is always the same.
    if (this.#attempts.length > 1) return [led];
    const asked = [...url.searchParams].map(([name, value]) =>
      name === 'state' || name === 'code_challenge' ? `${name} of ${value.length} letters` : `${name} ${value}`,
    );
    return [
      `  ${set.replace(/=[\w-]{43};/, '=…;')}`,
      `  ${url.origin === this.#google.origin ? 'google' : url.origin}${url.pathname}: ${asked.join(', ')}`,
      led,
    ];
  }

  async #comeBack(
    team: Awaited<ReturnType<typeof makeTeam>>,
    index: number,
    { cookie: given, path, method = 'GET', ...parameters }: Record<string, string | null>,
  ): Promise<string[]> {
    const { back, cookie } = this.#attempts[index]!;
    const url = new URL(back);
    const of = (name: string): Attempt | undefined => this.#attempts[Number(/^attempt-(\d+)$/.exec(name)?.[1]) - 1];
    for (const [name, value] of Object.entries(parameters)) {
      if (value === null) url.searchParams.delete(name);
      else if (value.endsWith('again')) url.searchParams.append(name, 'again');
      else url.searchParams.set(name, of(value)?.back.searchParams.get(name) ?? value);
    }
    const own = given === undefined ? cookie : given === null ? '' : (of(given)?.cookie ?? given);
    const response = await team.app.inject({
      method: method as 'GET',
      url: `${path ?? url.pathname}${url.search}`,
      headers: { host: 'localhost', 'sec-fetch-site': 'cross-site', ...(own === '' ? {} : { cookie: own }) },
    });
    const { location = '', 'cache-control': stored, 'referrer-policy': referrer } = response.headers;
    const begun = String(response.headers['set-cookie'] ?? '').replace(/=[^;]{20,}/, '=…');
    return [`  ${[response.statusCode, location, stored, referrer, begun].filter(Boolean).join(' ')}`];
  }

  #change(given: string): void {
    const google = this.#google;
    if (given === 'ends all') google.endAll();
    else if (given === 'answers few') {
      let answered = 0;
      const later = { status: 503, body: { error: { code: 503, message: 'later' } } };
      google.provider.fail(later, { which: ({ request }) => request !== undefined && ++answered > FEW });
    } else {
      const { sites, ...more } = parsed(given) as { sites?: object };
      google.provider.heal();
      // A failure that is null is over.
      Object.assign(
        google,
        Object.fromEntries(Object.entries(more).map(([name, value]) => [name, value ?? undefined])),
      );
      if (sites !== undefined) google.sites = new Map(Object.entries(sites));
    }
  }

  #changeBing({ failure, ...more }: { failure?: BingFailure | null }): void {
    this.#bingKeys.add(this.#bing.key);
    Object.assign(this.#bing, more);
    if (failure !== undefined) this.#bing.intercept = () => failure ?? undefined;
  }

  #asked(): string {
    const codes = this.#google.tokens.splice(0).map((form) => form.get('grant_type'));
    const revoked = this.#google.revoked.splice(0).map((form) => `revoke ${form.get('token')!.slice(0, 3)}…`);
    const bing = this.#bing.requests.splice(0).map(({ method }) => method);
    return [...codes, ...revoked, ...bing].join(', ') || 'nothing';
  }
}
