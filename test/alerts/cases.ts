import { addDays, countDays, eachDay } from '../../server/domain/dates.ts';
import { hoursOf, startOfPacificDay } from '../../server/domain/hours.ts';
import { PROJECT, type Row } from '../world.ts';

/** Rows of a snapshot by table; `sync_days`, `inspections` and what is `removed` are of the catalog. */
export type Loads = Record<string, Row[]>;

/** A block of test/fixtures/alerts.txt: rows that are loaded one after the other, each with the alerts behind it. */
export interface Case {
  readonly id: string;
  readonly promise: string;
  readonly first: string;
  readonly steps: readonly { readonly lines: readonly string[]; readonly loads: Loads }[];
}

/** The last final day of projects that name no other. */
export const LAST = '2026-12-31';
const SHOP = 'https://shop.example';
const WRITTEN = { created_at: '2026-01-01T00:00:00Z', updated_at: '2026-01-01T00:00:00Z', author: 'Ann' };
const TRACKED = { tracked_since: '2025-01-05T00:00:00Z' };
let uuids = 0;
const uuid = (): string => `${String(++uuids).padStart(8, '0')}-0000-4000-8000-0000000000ab`;

/** `3x5 2x[1,2] 1x-`: 5 5 5 1 2 1 2 and a day without rows. */
function daysOf(runs: string): string[] {
  return runs.split(' ').flatMap((run) => {
    const [, count, what] = /^(\d+)x(.+)$/.exec(run)!;
    const days = what!.startsWith('[') ? what!.slice(1, -1).split(',') : [what!];
    return Array.from({ length: Number(count) }, () => days).flat();
  });
}

/** `clicks/impressions@position` */
function measuresOf(day: string): Row {
  const [, clicks = 0, impressions, position] = /^(?:(\d+)\/)?(\d+)@([\d.]+)$/.exec(day)!;
  const sum = Math.round(Number(impressions) * (Number(position) - 1));
  return { clicks: Number(clicks), impressions: Number(impressions), sum_position: sum };
}

export function readCase(block: string, index: number): Case {
  const [promise, ...all] = block.split('\n');
  const id = `P${1000 + index}`;
  const written = all.filter((line) => !/^(day| |-)/.test(line));
  const last = written.find((line) => line.startsWith('last '))?.slice(5) ?? LAST;
  const runs = written.map((line) => /^(?:site|keywords?) (?:".*?" |\d+ )?(\d+x.*)$/.exec(line)?.[1]).find(Boolean)!;
  const length = daysOf(runs).length;
  const dayOf = (day: number | string): string => addDays(last, 1 - length + Number(day));
  const of = { project_id: id };
  const keywords = new Map<string, Row>();
  const rules = new Map<string, string>();
  let loads: Loads = {};
  const add = (table: string, row: Row): void => {
    loads[table] ??= [];
    loads[table].push({ ...of, ...row });
  };
  const keyword = (query: string, more?: Row): string => {
    const known = keywords.get(query);
    if (known === undefined || more !== undefined) {
      const row: Row = { ...(known ?? { id: `k${1000 + keywords.size}`, query, ...TRACKED }), ...more };
      keywords.set(query, row);
      loads['keywords'] = (loads['keywords'] ?? []).filter((other) => other['id'] !== row['id']);
      add('keywords', row);
    }
    return String(keywords.get(query)!['id']);
  };
  const site = (rows: string, from = 0): void => {
    for (const [at, day] of daysOf(rows).entries()) {
      if (day === '-') continue;
      const measures = measuresOf(day.includes('@') ? day : `${day}/1000@5`);
      add('site_daily', { date: dayOf(from + at), device: 'mobile', ...measures });
    }
  };
  const daysOfKeyword = (query: string, rows: string, from = 0): void => {
    const keyword_id = keyword(query);
    for (const [at, day] of daysOf(rows).entries()) {
      if (day !== '-')
        add('keyword_daily', { keyword_id, date: dayOf(from + at), device: 'mobile', ...measuresOf(day) });
    }
  };
  const pages = (query: string, rows: string): void => {
    const keyword_id = keyword(query);
    for (const [at, day] of daysOf(rows).entries()) {
      for (const page of day === '-' ? [] : day.split(' ').flatMap((each) => each.split('+'))) {
        const [path, impressions] = page.split('=');
        const measures = { clicks: 0, impressions: Number(impressions), sum_position: 0 };
        add('keyword_page_daily', { keyword_id, date: dayOf(at), url: SHOP + path!, ...measures });
      }
    }
  };
  const rule = (text: string): void => {
    const [, name, is, scope, about, metric, window, against, op, value, more] =
      /^(.*?)( off)?: (\w+)(?: "(.*?)")? (\w+) (\w+) (\w+) (\w+) ([\d.]+)(.*)$/.exec(text)!;
    const options = [...more!.matchAll(/(\w+)=([\d.]+)/g)].map(([, option, number]) => [option, Number(number)]);
    const unit = /percent|absolute/.exec(more!)?.[0];
    const subject = about === undefined ? {} : { id: scope === 'keyword' ? keyword(about) : about };
    const all = { scope, ...subject, metric, window, against, op, value: Number(value), ...(unit && { unit }) };
    const known = rules.get(name!) ?? uuid();
    rules.set(name!, known);
    add('alert_rules', {
      id: known,
      name,
      enabled: is === undefined,
      rule: { ...all, ...Object.fromEntries(options) },
    });
  };
  const note = (text: string): void => {
    const [, from, to, query, category, said] = /^(\d+)(?:-(\d+))? (?:"(.*?)" )?(\w+) (.*)$/.exec(text)!;
    const scope = query === undefined ? { scope: 'project' } : { scope: 'keyword', keyword_id: keyword(query) };
    const days = { date: dayOf(from!), end_date: to === undefined ? null : dayOf(to) };
    add('notes', { id: uuid(), workspace_id: 'acme', ...scope, ...days, category, text: said, ...WRITTEN });
  };
  const project = (final: string): void => {
    const { project_id: _, ...row } = { ...PROJECT, project_id: id, id, domain: `p${index}.example` };
    loads['projects'] = [{ ...row, synced_through: last, provisional_after: final }];
  };
  const words: Readonly<Record<string, (rest: string) => void>> = {
    last: () => {},
    final: (day) => project(dayOf(day)),
    site: (rest) => {
      const [, from = '0', rows] = /^(?:from (\d+) )?(.*)$/.exec(rest)!;
      site(rows!, Number(from));
    },
    keyword: (rest) => {
      const [, query, from = '0', rows] = /^"(.*?)" (?:from (\d+) )?(.*)$/.exec(rest)!;
      daysOfKeyword(query!, rows!, Number(from));
    },
    keywords: (rest) => {
      const [, count, rows] = /^(\d+) (.*)$/.exec(rest)!;
      for (let n = 0; n < Number(count); n++) daysOfKeyword(`query ${keywords.size}`, rows!);
    },
    pages: (rest) => {
      const [, query, rows] = /^"(.*?)" (.*)$/.exec(rest)!;
      pages(query!, rows!);
    },
    target: (rest) => {
      const [, query, path] = /^"(.*?)" (.*)$/.exec(rest)!;
      keyword(query!, { target_url: SHOP + path! });
    },
    archived: (query) => void keyword(query.slice(1, -1), { archived: true }),
    rule,
    note,
    row: (rest) => {
      const [, table, row] = /^(\w+) (.*)$/.exec(rest)!;
      const named = row!.replaceAll(/"keyword":("[^"]*")/g, (_, query: string) => {
        return `"keyword_id":"${keyword(JSON.parse(query) as string)}"`;
      });
      add(table!, JSON.parse(named.replaceAll(/"day (\d+)"/g, (_, day: string) => `"${dayOf(day)}"`)) as Row);
    },
    synced: (rest) => {
      const [, table, from, to, state, isCut, asOf] =
        /^(\w+) (\d+)(?:-(\d+))? (\w+)( cut off)?(?: in part by fetch (\d))?$/.exec(rest)!;
      const fetched = { final: Number(asOf === undefined), fetched_at: Number(asOf ?? 0) };
      for (let day = Number(from); day <= Number(to ?? from); day++) {
        add('sync_days', {
          fact_table: table,
          day: dayOf(day),
          state,
          cut_off: Number(isCut !== undefined),
          ...fetched,
        });
      }
    },
  };
  Object.assign(words, {
    /** `10 without 14: -4..9`: clicks of each hour, days before without rows, and hours without clicks but one at noon. */
    hours: (rest: string) => {
      const [, clicks, without, stops = ''] = /^(\d+)(?: without (\d+))?(?:: (.*))?$/.exec(rest)!;
      const missing = without && addDays(last, -Number(without));
      const at = (hour: string): number => startOfPacificDay(last) + Number(hour) * 3_600_000;
      const ranges = stops.split(' ').map((range) => range.split('..').map(at));
      for (const date of eachDay(addDays(last, -70), last).filter((one) => one !== missing))
        for (const [hour, start] of hoursOf(date).entries()) {
          const isStopped = ranges.some(([from, to]) => start >= from! && start < to!);
          const count = isStopped ? Number(hour === 12) : Number(clicks);
          const numbers = { clicks: count, impressions: 10 * count, sum_position: 0 };
          if (count > 0) add('site_hourly', { date, hour: new Date(start).toISOString(), ...numbers });
        }
    },
    /** `/boots 12 clicks watched: 20 indexed; 13 dropped`: a page, or so many, and what was found so many days ago. */
    inspected: (rest: string) => {
      const [, which = '', clicks, watched, found = ''] = /^(\S+) (\d+) clicks( watched)?: (.*)$/.exec(rest)!;
      const paths = which.startsWith('/') ? [which] : Array.from({ length: Number(which) }, (_, n) => `/${n}`);
      for (const path of paths)
        for (const [ago, state] of found.split('; ').map((one) => one.split(' ')))
          add('inspections', {
            url: SHOP + path,
            clicks: Number(clicks),
            isWatched: watched !== undefined,
            ago,
            state,
          });
    },
    removed: (table: string) => add('removed', { table }),
  });
  project(last);
  if (!written.some((line) => line.startsWith('site '))) site(`${length}x1`);
  const steps = block
    .slice(promise!.length + 1)
    .split(/^-\n/m)
    .map((step) => {
      const lines = step.split('\n').filter((line) => line !== '' && !/^(day| )/.test(line));
      for (const line of lines) {
        const [, word, rest] = /^(\w+) (.*)$/.exec(line)!;
        words[word!]!(rest!);
      }
      const loaded = loads;
      loads = {};
      return { lines, loads: loaded };
    });
  return { id, promise: promise!, first: dayOf(0), steps };
}

/** The place of a day in a case. */
export const placeOf = ({ first }: Case, day: string): number => countDays(first, day) - 1;
