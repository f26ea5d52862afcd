// Answers about entities: projects, groups, alerts and notes.
import type { Row } from '../world.ts';
import {
  addUp,
  bad,
  byText,
  DAY,
  dayIn,
  descending,
  flagIn,
  metrics,
  number,
  oneIn,
  type Query,
  wholeIn,
  withSums,
} from './oracle-terms.ts';
import type { OracleWorld, Project } from './oracle-world.ts';

export function projects(world: OracleWorld): object {
  return { projects: world.inAge().map((project) => world.about(project)) };
}

const HOUR = DAY / 24;
/** When the clocks of the Pacific are set, in the only spring and summer of the worlds. */
const CLOCKS = Date.parse('2026-03-08T10:00:00Z');
const behind = (at: number): number => (at < CLOCKS ? 8 : 7);
const pacificDay = (at: number): number => Math.floor((at - behind(at) * HOUR) / DAY);
const startOf = (day: number): number => day * DAY + (day * DAY + 8 * HOUR <= CLOCKS ? 8 : 7) * HOUR;
const hourText = (at: number): string =>
  `${new Date(at - behind(at) * HOUR).toISOString().slice(0, 19)}-0${behind(at)}:00`;

/** Hours of days that have any, up to the last one that is complete or has a row. */
export function hours(world: OracleWorld, project: Project, query: Query): object {
  const limit = (name: string): { day: number } | { at: number } | undefined => {
    const sent = query.get(name);
    if (sent === undefined) return undefined;
    return sent.includes('T') ? { at: Date.parse(sent) } : { day: dayIn(query, name)! };
  };
  const [from, to] = [limit('from'), limit('to') ?? { day: pacificDay(world.now) }];
  const last = 'day' in to ? startOf(to.day + 1) - HOUR : Math.floor(to.at / HOUR) * HOUR;
  const begin = from ?? { day: pacificDay(last) - 6 };
  const first = 'day' in begin ? startOf(begin.day) : Math.ceil(begin.at / HOUR) * HOUR;
  const days = { from: pacificDay(first), to: pacificDay(last) };
  if (first > last || days.to - days.from + 1 > 62) throw bad('from');
  const stored = Map.groupBy(world.rows(project, 'site_hourly', days), ({ hour }) => Date.parse(String(hour)));
  const final = project['provisional_after'] as string | null;
  const complete = final === null ? -Infinity : startOf(number(final) + 1) - HOUR;
  const known = Math.min(last, Math.max(complete, ...stored.keys()));
  const withRows = new Set([...stored.keys()].map(pacificDay));
  const shown = Array.from({ length: (last - first) / HOUR + 1 }, (_, at) => first + at * HOUR);
  return {
    range: {
      from: hourText(first),
      to: hourText(last),
      provisionalAfter: final === null ? null : hourText(complete),
    },
    hours: shown
      .filter((at) => at <= known && withRows.has(pacificDay(at)))
      .map((at) => {
        const sum = addUp(stored.get(at) ?? []);
        return withSums({ hour: hourText(at), ...metrics(sum) }, sum);
      }),
  };
}

export function groupList(world: OracleWorld, project: Project): object {
  const tracked = new Set(world.tracked(project).map(({ id }) => id));
  const members = world.rows(project, 'group_members').filter((member) => tracked.has(member['keyword_id']));
  return {
    groups: world.inOrder(project, 'groups').map((row) => ({
      id: row['id'],
      name: row['name'],
      kind: row['kind'],
      parentId: row['parent_id'],
      position: row['position'],
      pinned: row['pinned'],
      rule: row['rule'],
      keywordIds:
        row['kind'] === 'manual'
          ? members
              .filter((member) => member['group_id'] === row['id'])
              .map((member) => member['keyword_id'])
              .sort(byText)
          : null,
    })),
  };
}

export function pageGroups(world: OracleWorld, project: Project): object {
  return {
    pageGroups: world.inOrder(project, 'page_groups').map(({ id, name, position, rule, pinned_urls }) => ({
      id,
      name,
      position,
      rule,
      pinnedUrls: pinned_urls,
    })),
  };
}

export function alerts(world: OracleWorld, project: Project, query: Query): object {
  const status = oneIn(query, 'status', ['open', 'resolved', 'all']) ?? 'all';
  const since = dayIn(query, 'since') ?? -Infinity;
  const limit =
    query.get('format') !== undefined && query.get('limit') === undefined
      ? Infinity
      : wholeIn(query, 'limit', 100, 1, 500);
  const at = (row: Row): number => Date.parse(String(row['created_at']));
  const alerts = world
    .rows(project, 'alerts')
    .filter((row) => status === 'all' || (status === 'open') === (row['resolved_at'] === null))
    .filter((row) => at(row) >= since * DAY)
    .sort((a, b) => descending(at(a), at(b)) || byText(a['id'], b['id']));
  return {
    alerts: alerts.slice(0, limit).map(({ id, type, kind, severity, title, body, date, keyword_id, url, ...row }) => ({
      id,
      type,
      kind,
      severity,
      title,
      body,
      date,
      keywordId: keyword_id,
      url,
      createdAt: row['created_at'],
      resolvedAt: instantOrNull(row['resolved_at'] as string | null),
    })),
  };
}

export function notes(world: OracleWorld, project: Project, query: Query): object {
  const [from, to] = [dayIn(query, 'from') ?? -Infinity, dayIn(query, 'to') ?? Infinity];
  const visible = flagIn(query, 'clientVisible');
  if (from > to) throw bad('from');
  const applies = (row: Row): boolean =>
    row['project_id'] === project.id || (row['project_id'] === null && row['workspace_id'] === project['workspace_id']);
  const notes = world.tables['notes']!.filter(applies)
    .filter((row) => number(String(row['end_date'] ?? row['date'])) >= from && number(String(row['date'])) <= to)
    .filter((row) => !visible || row['client_visible'] === true)
    .sort(
      (a, b) => byText(a['date'], b['date']) || byText(a['created_at'], b['created_at']) || byText(a['id'], b['id']),
    );
  const find = (table: string, id: unknown): Row | undefined =>
    world.rows(project, table).find((row) => row['id'] === id);
  return {
    notes: notes.map((row) => {
      const group = find('groups', row['group_id']);
      const keyword = find('keywords', row['keyword_id']);
      return {
        id: row['id'],
        scope: row['scope'],
        date: row['date'],
        endDate: row['end_date'],
        category: row['category'],
        text: row['text'],
        clientVisible: row['client_visible'],
        author: row['author'],
        group: group === undefined ? null : { id: group['id'], name: group['name'] },
        keyword: keyword === undefined ? null : { id: keyword['id'], query: keyword['query'] },
        page: row['page'],
        createdAt: row['created_at'],
        updatedAt: row['updated_at'],
      };
    }),
  };
}

function instantOrNull(instant: string | null): string | null {
  return instant === null ? null : new Date(instant).toISOString();
}
