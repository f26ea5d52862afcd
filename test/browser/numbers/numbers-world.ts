import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';
import { ensureDashboard } from '../../../cli/dashboard.ts';
import { createSession } from '../../../server/catalog/sessions.ts';
import { addMember } from '../../../server/catalog/workspaces.ts';
import { addDays, dayOf, eachDay } from '../../../server/domain/dates.ts';
import { facts, keyword, makeWorld, ofProject, PROJECT, type Row, type Tables, type World } from '../../world.ts';

const OWNER = 'owner@acme.example';
const LAST = addDays(dayOf(Date.now()), -1);
const DAYS = eachDay(addDays(LAST, -130), LAST);
/** No project has these. */
const MISSING = new Set(DAYS.slice(40, 43));

/** Numbers from 0 to below 1, the same for each seed. */
export class Draw {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  fraction(): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return this.#state / 2 ** 32;
  }

  /** A whole number of a range, both ends counted; small ones are more frequent. */
  number(least: number, most: number): number {
    return least + Math.floor(this.fraction() ** 3 * (most - least + 1));
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[Math.floor(this.fraction() * items.length)]!;
  }
}

export const WORDS = ['walking', 'running', 'red', 'acme', 'cheap', 'boots', 'shoes', 'socks', 'tent', 'café'];

/** What is stored of one name: days from one on to another, each with clicks, impressions and a sum of positions. */
function daysOf(draw: Draw, most: number): [string, number, number, number][] {
  const from = draw.pick([0, 0, 0, 60, 100, 112]);
  const to = draw.pick([130, 130, 130, 110, 70]);
  const size = draw.number(1, most);
  return DAYS.slice(from, to + 1).flatMap((day): [string, number, number, number][] => {
    if (MISSING.has(day) || draw.fraction() < 0.2) return [];
    const impressions = draw.number(1, size);
    return [[day, draw.number(0, impressions), impressions, draw.number(0, 40 * impressions)]];
  });
}

function tables(draw: Draw): Tables {
  const named = (names: readonly string[], most: number, more: readonly string[] = []) =>
    names.flatMap((name) => daysOf(draw, most).map(([day, ...sums]) => [name, day, ...more, ...sums]));
  const queries = [
    ...new Set(Array.from({ length: 90 }, (_, index) => `${draw.pick(WORDS)} ${draw.pick(WORDS)} ${index % 17}`)),
  ];
  const keywords = queries.slice(0, 60).map((query, index) => keyword(`Kw0${String(index).padStart(2, '0')}`, query));
  const pages = Array.from({ length: 70 }, (_, index) => `https://shop.example/${draw.pick(WORDS)}/${index}`);
  const whole = (most: number): [string, number, number, number][] =>
    DAYS.filter((day) => !MISSING.has(day)).map((day) => {
      const impressions = draw.number(most / 4, most);
      return [day, draw.number(0, impressions), impressions, draw.number(0, 30 * impressions)];
    });
  const site = (most: number): Row[] =>
    ['desktop', 'mobile', 'tablet'].flatMap((device) =>
      facts('date device', ...whole(most).map(([day, ...sums]) => [day, device, ...sums])),
    );
  const others = ['Proj2', 'Proj3'];
  return {
    projects: [PROJECT['id'] as string, ...others].map((id, index) => ({
      ...PROJECT,
      id,
      domain: index === 0 ? 'shop.example' : `shop-${index}.example`,
      synced_through: LAST,
      provisional_after: addDays(LAST, -2),
      sync_status: 'ok',
    })),
    keywords,
    groups: [
      { ...GROUP, id: 'Grp01', name: 'Boots', rule: ruleOf('boots') },
      { ...GROUP, id: 'Grp02', name: 'Red', position: 1, rule: ruleOf('red') },
    ],
    site_daily: [...site(9000), ...others.flatMap((id, index) => ofProject(id, site(40 ** (index + 1))))],
    keyword_daily: facts(
      'keyword_id date device',
      ...named(
        keywords.map(({ id }) => id as string),
        900,
        ['mobile'],
      ),
    ),
    keyword_page_daily: facts(
      'keyword_id date url',
      ...keywords.flatMap(({ id }) =>
        DAYS.slice(-40).map((day) => [id, day, draw.pick(pages), 1, draw.number(1, 50), draw.number(0, 400)]),
      ),
    ),
    country_daily: facts(
      'date country',
      ...whole(9000).map(([day, ...sums]) => [day, 'gbr', ...sums]),
      ...named(COUNTRIES, 4000).map(([country, day, ...sums]) => [day, country, ...sums]),
    ),
    appearance_daily: facts(
      'date appearance',
      ...named(['PRODUCT_SNIPPETS', 'VIDEO', 'FAQ_RICH_RESULTS'], 700).map(([name, day, ...sums]) => [
        day,
        name,
        ...sums,
      ]),
    ),
    brand_daily: facts(
      'date segment',
      ...['brand', 'non_brand'].flatMap((segment) => whole(2000).map(([day, ...sums]) => [day, segment, ...sums])),
    ),
    query_daily: facts('query date country', ...countries(named(queries, 3000))),
    page_daily: facts('url date country', ...countries(named(pages, 3000))),
    alerts: [3, 20].map((before, index) => ({
      id: `00000000-0000-4000-8000-00000000000${index}`,
      project_id: 'Proj1',
      type: 'traffic_drop',
      kind: 'Traffic drop',
      severity: 'warning',
      title: `Clicks fell ${index}`,
      body: 'They fell.',
      date: addDays(LAST, -before),
      keyword_id: null,
      url: null,
      created_at: `${addDays(LAST, 1 - before)}T00:00:00Z`,
      resolved_at: null,
    })),
  };
}

const COUNTRIES = ['usa', 'deu', 'fra', 'esp', 'ita', 'nld', 'bel', 'aut', 'che', 'pol', 'swe', 'nor', 'zzz'];
const GROUP = { project_id: 'Proj1', kind: 'rule', parent_id: null, position: 0, pinned: false };
const ruleOf = (value: string): string =>
  JSON.stringify({ match: 'all', conditions: [{ field: 'query', op: 'contains', value }] });

/** Most rows are of one country. */
function countries(rows: readonly (readonly (string | number)[])[]): (string | number)[][] {
  return rows.map(([name, day, ...sums], index) => [name!, day!, index % 3 === 0 ? 'usa' : 'gbr', ...sums]);
}

/** Whether no project has a day. */
export function isMissing(day: string): boolean {
  return MISSING.has(day);
}

export type NumbersWorld = World & {
  readonly origin: string;
  /** The token of a new session of an owner. */
  readonly cookie: () => Promise<string>;
  readonly last: string;
};

/** A server with random numbers up to yesterday. */
export async function startNumbers(t: Test): Promise<NumbersWorld> {
  await ensureDashboard();
  const world = await makeWorld(t, tables(new Draw(25)), { now: Date.now });
  await world.app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = world.app.server.address() as AddressInfo;
  await addMember(world.catalog, 'acme', OWNER, 'owner');
  const who = { keyId: null, email: OWNER };
  const cookie = async (): Promise<string> =>
    (await createSession(world.catalog, { workspace: 'acme', who, at: Date.now() * 1000 })).token;
  return { ...world, origin: `http://127.0.0.1:${port}`, cookie, last: LAST };
}
