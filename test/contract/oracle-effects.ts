// Judges a change by placebos, from the rows of a snapshot and docs/decisions/effects-by-placebos.md alone.
import type { Row } from '../world.ts';
import { bad, byText, type Days, dayIn, descending, missing, number, oneIn, type Query, text } from './oracle-terms.ts';
import type { OracleWorld, Project } from './oracle-world.ts';

/** Clicks by day of the members of a unit together, and the days on which something was changed on one of them. */
interface Unit {
  readonly clicks: readonly number[];
  readonly changes: readonly number[];
}

interface Lengths {
  readonly before: number;
  readonly settle: number;
  readonly after: number;
}

/** A unit whose windows around a day are compared with those of the controls. */
interface Compared {
  readonly unit: number;
  readonly day: number;
  readonly before: number;
  /** y of the decision. */
  readonly effect: number;
  readonly expected: number;
  readonly counting: number;
  readonly scatter: number;
}

const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
const rounded = (value: number, scale = 10_000): number => Math.round(value * scale) / scale;
const inWindow = (unit: Unit, from: number, to: number): number => total(unit.clicks.slice(from, to));
const lengthIn = (query: Query, name: string, byDefault: number, least: number, most: number): number => {
  const sent = query.get(name) ?? `${byDefault}d`;
  const days = /^\d{1,3}d$/.test(sent) ? Number.parseInt(sent, 10) : -1;
  if (days < least || days > most) throw bad(name);
  return days;
};

const SUBJECTS = ['page', 'pageGroup', 'keyword', 'group'] as const;

/** The answer without its text and the ranking updates. */
export function effects(world: OracleWorld, project: Project, query: Query): object {
  const find = (table: string, id: unknown): Row => {
    const found = world.rows(project, table).find((row) => row['id'] === id);
    if (found === undefined) throw missing();
    return found;
  };
  const notes = world.tables['notes']!.filter(
    (row) =>
      row['project_id'] === project.id ||
      (row['project_id'] === null && row['workspace_id'] === project['workspace_id']),
  ).sort(
    (a, b) => byText(a['date'], b['date']) || byText(a['created_at'], b['created_at']) || byText(a['id'], b['id']),
  );
  const asked = query.get('note');
  const note = asked === undefined ? null : (notes.find(({ id }) => id === asked) ?? null);
  if (asked !== undefined && note === null) throw missing();
  if (query.get('group') !== undefined) find('groups', query.get('group'));
  if (query.get('keyword') !== undefined) find('keywords', query.get('keyword'));
  if (query.get('pageGroup') !== undefined) find('page_groups', query.get('pageGroup'));

  const day = dayIn(query, 'date');
  const lengths = {
    before: lengthIn(query, 'before', 56, 28, 182),
    settle: lengthIn(query, 'settle', 7, 0, 28),
    after: lengthIn(query, 'after', 28, 7, 91),
  };
  oneIn(query, 'metric', ['clicks']);
  const sent = SUBJECTS.filter((name) => query.all(name).length > 0);
  if (note !== null && (day !== undefined || sent.length > 0)) throw bad(day !== undefined ? 'date' : sent[0]!);
  if (note === null && day === undefined) throw bad('date');
  if (note === null && sent.length === 0) throw bad('page');
  if (sent.length > 1) throw bad(sent[1]!);

  // Only after the parameters: the project has an archived keyword, though it tracks it no more.
  if (query.get('keyword') !== undefined && find('keywords', query.get('keyword'))['archived'] === true)
    throw missing();

  const date = note === null ? day! : number(String(note['date']));
  const scope = note === null ? sent[0]! : String(note['scope']);
  const subject = subjectOf(world, project, { note, scope, query, find });
  const windows = {
    before: { from: date - lengths.before, to: date - 1 },
    settle: lengths.settle === 0 ? null : { from: date, to: date + lengths.settle - 1 },
    after: { from: date + lengths.settle, to: date + lengths.settle + lengths.after - 1 },
  };
  const span = { from: windows.before.from, to: windows.after.to };
  const final = Math.min(
    number((project['provisional_after'] as string | null) ?? text(world.lastDay(project))),
    world.lastDay(project),
  );
  const clicks =
    subject === null
      ? undefined
      : clicksOf(world, project, { ...subject, notes, note, span, final, before: windows.before });
  const elapsed = Math.min(lengths.after, Math.max(0, final - windows.after.from + 1));
  const isOver = elapsed === lengths.after;
  const touches = (row: Row): boolean =>
    number(String(row['date'])) <= span.to && number(String(row['end_date'] ?? row['date'])) >= span.from;

  const reasons: string[] = [];
  if (subject === null) reasons.push('no_controls');
  else if (clicks === undefined) reasons.push('needs_stored_days');
  else {
    const until = Math.min(span.to, final);
    for (let at = span.from; at <= until; at++) {
      if (clicks.stored[at - clicks.from] !== true) {
        reasons.push('missing_days');
        break;
      }
    }
    // No event of the provider changes how clicks of web are counted.
    const others = clicks.own.filter((row) => (note === null ? number(String(row['date'])) !== date : row !== note));
    if (others.some(touches)) reasons.push('other_note');
  }
  const isComparable = !reasons.some((reason) => reason !== 'other_note');
  const judged = elapsed > 0 ? { ...lengths, after: elapsed } : lengths;
  const found =
    clicks &&
    estimateOf(
      [clicks.subject, ...bundled(clicks.controls, clicks.members)],
      clicks.stored,
      date - clicks.from,
      judged,
    );
  if (isComparable && found) {
    if (found.before < 30) reasons.push('few_clicks');
    else if (found.control === null) reasons.push(found.placebos === 0 ? 'no_controls' : 'few_placebos');
  }
  let effect = null;
  if (isComparable && elapsed > 0 && found?.effect) {
    const first = windows.after.from - clicks!.from;
    const actual = inWindow(clicks!.subject, first, first + elapsed);
    const expected = rounded(found.effect.expected, 100);
    const certain = (value: number): number | null => (isOver ? rounded(value) : null);
    effect = {
      ...{ actual, expected, difference: rounded(actual - expected, 100), ratio: rounded(found.effect.ratio) },
      ...{ low: certain(found.effect.low), high: certain(found.effect.high), p: certain(found.effect.p) },
    };
  }
  const isRefused = reasons.some((reason) => !['few_clicks', 'few_placebos'].includes(reason));
  const isSmall = reasons.length > 0 || effect === null;
  const judgement =
    effect?.p === null || isSmall
      ? 'too_small'
      : effect!.p >= 0.05
        ? 'no_evidence'
        : effect!.ratio > 0
          ? 'more'
          : 'fewer';
  const shown = ({ from, to }: Days) => ({ from: text(from), to: text(to) });
  const counted = ['page', 'pageGroup'].includes(scope) ? 'pages' : 'keywords';
  return {
    subject: {
      ...(note !== null && { note: note['id'] }),
      ...{ date: text(date), scope, name: subject?.name ?? project['domain'] },
      ...(subject !== null && { [counted]: clicks?.members ?? (subject.isGroup ? 0 : subject.given.length) }),
    },
    windows: {
      before: shown(windows.before),
      settle: windows.settle && shown(windows.settle),
      after: shown(windows.after),
    },
    effect,
    placebo: { count: found?.placebos ?? 0, falseAlarmRate: rounded(found?.falseAlarmRate ?? 0) },
    detectable: found?.detectable == null ? null : { ratio: rounded(found.detectable) },
    control: found?.control ? { members: found.control.members, error: rounded(found.control.error) } : null,
    verdict: isRefused ? 'not_comparable' : isOver ? judgement : 'interim',
    reasons,
    daily: clicks === undefined ? [] : daily(clicks, windows, effect?.expected),
    notes: notes.filter((row) => row !== note && touches(row)).map(({ id }) => id),
  };
}

interface Subject {
  readonly kind: 'page' | 'keyword';
  readonly name: string;
  /** Pages or keywords that are named; those of a page group come from its rule. */
  readonly given: readonly string[];
  readonly isMember: (name: string) => boolean;
  /** Its members are not counted where no days are stored. */
  readonly isGroup?: true;
}

/** What was changed; null if that is everything. */
function subjectOf(
  world: OracleWorld,
  project: Project,
  {
    note,
    scope,
    query,
    find,
  }: { note: Row | null; scope: string; query: Query; find: (table: string, id: unknown) => Row },
): Subject | null {
  const keywordsOf = (group: Row): string[] =>
    world
      .tracked(project)
      .filter(({ id }) =>
        world
          .rows(project, 'group_members')
          .some(
            (member) =>
              member['keyword_id'] === id &&
              (member['group_id'] === group['id'] || find('groups', member['group_id'])['parent_id'] === group['id']),
          ),
      )
      .map(({ id }) => String(id));
  const given = (kind: Subject['kind'], name: unknown, names: readonly string[]): Subject => ({
    ...{ kind, name: String(name), given: names },
    isMember: (one) => names.includes(one),
  });
  switch (scope) {
    case 'page': {
      const pages = note === null ? [...new Set(query.all('page'))] : [String(note['page'])];
      return given('page', pages.length === 1 ? pages[0] : `${pages.length} pages`, pages);
    }
    case 'pageGroup': {
      const group = find('page_groups', query.get('pageGroup'));
      const begins = (group['rule'] as { conditions: { value: string }[] }).conditions.map(({ value }) =>
        value.toLowerCase(),
      );
      const pinned = group['pinned_urls'] as string[];
      const path = (url: string): string => url.replace(/^https:\/\/[^/]+/, '');
      return {
        ...{ kind: 'page', name: String(group['name']), given: [] },
        isMember: (url) =>
          pinned.includes(path(url)) || begins.some((value) => path(url).toLowerCase().startsWith(value)),
      };
    }
    case 'keyword': {
      const keyword = find('keywords', note === null ? query.get('keyword') : note['keyword_id']);
      return given('keyword', keyword['query'], [String(keyword['id'])]);
    }
    case 'group': {
      const group = find('groups', note === null ? query.get('group') : note['group_id']);
      return { ...given('keyword', group['name'], keywordsOf(group)), isGroup: true };
    }
    default:
      return null;
  }
}

interface Clicks {
  /** The first day of all. */
  readonly from: number;
  readonly stored: readonly boolean[];
  readonly subject: Unit;
  readonly controls: readonly Unit[];
  readonly members: number;
  /** Notes about a member. */
  readonly own: readonly Row[];
}

function clicksOf(
  world: OracleWorld,
  project: Project,
  asked: Subject & { notes: readonly Row[]; note: Row | null; span: Days; final: number; before: Days },
): Clicks | undefined {
  const { kind, given, isMember, notes, note, span, final } = asked;
  const [table, column] = kind === 'page' ? ['page_daily', 'url'] : ['keyword_daily', 'keyword_id'];
  const rows = world
    .rows(project, table)
    .map((row) => ({ name: String(row[column]), day: number(String(row['date'])), clicks: row['clicks'] as number }));
  if (rows.length === 0) return undefined;
  const first = Math.min(...rows.map(({ day }) => day));
  const to = Math.min(span.to, final);
  const from = Math.max(first, kind === 'page' ? first : world.historyFrom(project), to - 485);
  if (from > to) return undefined;
  const read = rows.filter(({ day }) => day >= from && day <= to);
  const site = new Set(world.rows(project, 'site_daily').map(({ date }) => number(String(date))));
  const own = new Set(rows.map(({ day }) => day));
  const days = Array.from({ length: to - from + 1 }, (_, at) => from + at);

  // Before a change of the future, as many days up to the last one.
  const last = Math.min(asked.before.to, to);
  const beginning = Math.max(from, last - (asked.before.to - asked.before.from));
  const sizes = new Map<string, number>();
  if (kind === 'keyword') for (const { id } of world.tracked(project)) sizes.set(String(id), 0);
  for (const { name, day, clicks } of read) {
    const isKnown = kind === 'page' || sizes.has(name);
    if (isKnown && day >= beginning && day <= Math.max(last, from)) sizes.set(name, (sizes.get(name) ?? 0) + clicks);
  }
  const order = kind === 'page' ? [] : world.tracked(project).map(({ id }) => String(id));
  const byName = (a: string, b: string): number =>
    kind === 'page' ? byText(a, b) : order.indexOf(a) - order.indexOf(b);
  const members =
    given.length > 0 || kind === 'keyword' ? given : [...new Set(read.map(({ name }) => name))].filter(isMember);
  const controls = [...sizes.keys()]
    .filter((name) => !members.includes(name))
    .sort((a, b) => descending(sizes.get(a)!, sizes.get(b)!) || byName(a, b))
    .slice(0, 500);

  const isAbout = (row: Row, name: string): boolean => {
    if (kind === 'page') return row['scope'] === 'page' && row['page'] === name;
    if (row['scope'] === 'keyword') return row['keyword_id'] === name;
    const groups = world.rows(project, 'groups');
    return (
      row['scope'] === 'group' &&
      world
        .rows(project, 'group_members')
        .some(
          ({ group_id, keyword_id }) =>
            keyword_id === name &&
            (group_id === row['group_id'] ||
              groups.find(({ id }) => id === group_id)?.['parent_id'] === row['group_id']),
        )
    );
  };
  const clicksByDay = (names: readonly string[]): number[] =>
    days.map((day) =>
      total(read.filter((row) => row.day === day && names.includes(row.name)).map(({ clicks }) => clicks)),
    );
  const unitOf = (names: readonly string[], about: readonly Row[]): Unit => ({
    clicks: clicksByDay(names),
    changes: about
      .filter((row) => names.some((name) => isAbout(row, name)))
      .flatMap(({ date, end_date }) => {
        const [begin, end] = [number(String(date)), number(String(end_date ?? date))];
        return Array.from({ length: end - begin + 1 }, (_, at) => begin + at - from);
      }),
  });
  return {
    ...{ from, members: members.length },
    stored: days.map((day) => site.has(day) || own.has(day)),
    subject: unitOf(
      members,
      notes.filter((row) => row !== note),
    ),
    controls: controls.map((name) => unitOf([name], notes)),
    own: notes.filter((row) => members.some((name) => isAbout(row, name))),
  };
}

/** As many controls in each as the subject has members, dealt out in turn; eight at least. */
function bundled(controls: readonly Unit[], members: number): readonly Unit[] {
  const size = Math.min(members, Math.floor(controls.length / 8));
  if (size <= 1) return controls;
  const count = Math.floor(controls.length / size);
  return Array.from({ length: count }, (_, bundle) => {
    const own = Array.from({ length: size }, (_unit, at) => controls[bundle + at * count]!);
    return {
      clicks: own[0]!.clicks.map((_day, at) => total(own.map(({ clicks }) => clicks[at]!))),
      changes: own.flatMap(({ changes }) => changes),
    };
  });
}

/** What is measured of all units in the windows before a day; undefined for units that are not used. */
function scattersBefore(units: readonly Unit[], day: number, { before }: Lengths, isUsed: (unit: number) => boolean) {
  const weeks = Math.floor(before / 7);
  const clicks = units.map((unit, index) => {
    const counted = inWindow(unit, day - before, day);
    return counted >= 30 && isUsed(index) ? counted : undefined;
  });
  const weekly = units.map((unit) =>
    Array.from({ length: weeks }, (_, week) => inWindow(unit, day + 7 * (week - weeks), day + 7 * (week - weeks + 1))),
  );
  const weights = clicks.map((counted, index) => (index === 0 || counted === undefined ? 0 : Math.sqrt(counted)));
  const common = Array.from(
    { length: weeks },
    (_, week) =>
      total(weights.map((weight, index) => weight * Math.log(weekly[index]![week]! + 0.5))) / (total(weights) || 1),
  );
  return units.map((_, index) => {
    if (clicks[index] === undefined) return undefined;
    const apart = weekly[index]!.map((counted, week) => Math.log(counted + 0.5) - common[week]!);
    const mean = total(apart) / weeks;
    const variance = total(apart.map((one) => (one - mean) ** 2)) / (weeks - 1);
    return {
      clicks: clicks[index],
      scatter: variance - total(weekly[index]!.map((counted) => 1 / (counted + 1))) / weeks,
    };
  });
}

type Measured = ReturnType<typeof scattersBefore>;

/** Each measured unit on a day against the weighted growth of all other controls. */
function comparedOn(
  units: readonly Unit[],
  day: number,
  { settle, after }: Lengths,
  measured: Measured,
  site: number,
  ownOf: (scatter: number) => number,
): Compared[] {
  const grown = units.map((unit, index) => {
    const before = measured[index]?.clicks;
    if (before === undefined) return undefined;
    const counted = inWindow(unit, day + settle, day + settle + after);
    return { before, counted, growth: Math.log((counted + 0.5) / (before + 0.5)) };
  });
  const controls = grown.map((one, index) => (index === 0 ? undefined : one));
  const all = Math.log(
    (total(controls.map((one) => one?.counted ?? 0)) + 0.5) / (total(controls.map((one) => one?.before ?? 0)) + 0.5),
  );
  const weights = controls.map((one) =>
    one === undefined ? 0 : 1 / (1 / (one.before + 0.5) + 1 / (one.before * Math.exp(all) + 0.5) + 0.7 * site + 0.005),
  );
  return grown.flatMap((one, unit) => {
    const others = weights.map((weight, index) => (index === unit ? 0 : weight));
    if (one === undefined || total(others) === 0) return [];
    const growth = total(others.map((weight, index) => weight * (grown[index]?.growth ?? 0))) / total(others);
    const expected = (one.before + 0.5) * Math.exp(growth);
    return [
      {
        ...{ unit, day, before: one.before, effect: one.growth - growth, expected: Math.max(0, expected - 0.5) },
        ...{ counting: 1 / (one.before + 0.5) + 1 / (expected + 0.5), scatter: ownOf(measured[unit]!.scatter) },
      },
    ];
  });
}

function estimateOf(units: readonly Unit[], stored: readonly boolean[], day: number, lengths: Lengths) {
  const { before, settle, after } = lengths;
  const reach = settle + after;
  const end = stored.length;
  const has = (from: number, to: number): boolean => from >= 0 && to <= end && stored.slice(from, to).every(Boolean);
  const isClean = (unit: number, at: number): boolean =>
    !units[unit]!.changes.some((change) => change >= at - before && change < at + reach) &&
    (unit > 0 || at + reach <= day);
  const now = Math.min(day, end);
  const current = has(now - before, now)
    ? scattersBefore(units, now, lengths, (unit) => unit === 0 || isClean(unit, now))
    : undefined;

  const last = Math.min(day, end - reach);
  const days = Array.from(
    { length: Math.max(0, Math.floor((last - before) / 7) + 1) },
    (_, week) => last - 7 * week,
  ).filter((at) => has(at - before, at + reach));
  const measured = days.map((at) =>
    at === day ? current! : scattersBefore(units, at, lengths, (unit) => isClean(unit, at)),
  );
  let [sum, weights] = [0, 0];
  for (const one of measured.flatMap((each) => each.slice(1))) {
    if (one === undefined) continue;
    const weight = 1 / (before / 7 / one.clicks + 0.01);
    sum += weight * one.scatter;
    weights += weight;
  }
  const site = Math.max(0.0005, sum / (weights || 1));
  const freedom = Math.floor(before / 7) - 1;
  const ownOf = (scatter: number): number => Math.max(0.00025, (freedom * scatter + 20 * site) / (freedom + 20));
  const all = days.flatMap((at, index) => comparedOn(units, at, lengths, measured[index]!, site, ownOf));
  const isAsked = (one: Compared): boolean => one.unit === 0 && one.day === day;
  const placebos = all.filter((one) => !isAsked(one));
  const subject = all.find(isAsked);
  const clicks = current?.[0]?.clicks ?? 0;
  const controls = (current ?? []).slice(1).filter((one) => one !== undefined).length;
  const none = {
    before: clicks,
    placebos: placebos.length,
    falseAlarmRate: 0,
    detectable: null,
    control: null,
    effect: null,
  };
  if (clicks < 30 || controls === 0 || placebos.length < 40) return none;

  let [beyond, scatters] = [0, 0];
  for (const { effect, counting, scatter } of placebos) {
    const weight = 1 / (counting + 0.01) ** 2;
    beyond += weight * (Math.min(effect ** 2, 9 * (counting + 0.35 * scatter + 0.01)) - counting);
    scatters += weight * scatter;
  }
  const m = Math.max(0.1, beyond / scatters);
  const deviation = (one: Pick<Compared, 'counting' | 'scatter'>): number => Math.sqrt(one.counting + m * one.scatter);
  const ranked = placebos
    .map((one) => ({
      ...{ unit: one.unit, effect: one.effect, value: one.effect / deviation(one) },
      weight: Math.exp(-0.5 * Math.log(one.before / clicks) ** 2),
    }))
    .sort((a, b) => descending(Math.abs(a.value), Math.abs(b.value)));
  const weight = total(ranked.map((one) => one.weight));
  let c = 1;
  for (let apart = 7; apart < after; apart += 7) c += 2 * (1 - apart / after) ** 2;
  c = Math.min(c, Math.max(1, 0.05 * weight));
  const above = (value: number, among: typeof ranked): number =>
    total(among.filter((one) => Math.abs(one.value) >= value).map((one) => one.weight));
  const p = (value: number, among = ranked): number =>
    (c + above(value, among)) / (c + total(among.map((one) => one.weight)));
  if (p(Number.POSITIVE_INFINITY) >= 0.05) return none;
  const limit = Math.abs((ranked.find(({ value }) => p(Math.abs(value)) >= 0.05) ?? ranked.at(-1)!).value);
  const alarms = ranked.filter((one) => {
    const others = ranked.filter(({ unit }) => unit !== one.unit);
    return p(Math.abs(one.value), others) < 0.05;
  });
  let below = 0;
  const quantile = ranked
    .toSorted((a, b) => a.value - b.value)
    .find((one) => {
      below += one.weight;
      return below >= 0.2 * weight;
    })!.value;
  const future = (clicks * after) / before;
  const of = subject ?? { counting: 1 / (clicks + 0.5) + 1 / (future + 0.5), scatter: ownOf(current![0]!.scatter) };
  const margin = limit * deviation(of);
  return {
    ...none,
    falseAlarmRate: total(alarms.map((one) => one.weight)) / weight,
    detectable: Math.expm1(deviation(of) * (limit - quantile)),
    control: {
      members: controls,
      error: Math.expm1(Math.sqrt(total(ranked.map((one) => one.weight * one.effect ** 2)) / weight)),
    },
    effect:
      subject === undefined
        ? null
        : {
            expected: subject.expected,
            ratio: Math.expm1(subject.effect),
            low: Math.expm1(subject.effect - margin),
            high: Math.expm1(subject.effect + margin),
            p: p(Math.abs(subject.effect) / deviation(subject)),
          },
  };
}

/** By the days of all controls together, scaled to the subject before the change and to what is expected after it. */
function daily(
  { from, stored, subject, controls }: Clicks,
  windows: { before: Days; after: Days },
  expected: number | null | undefined,
) {
  const end = stored.length;
  const first = Math.max(0, windows.before.from - from);
  const [change, after] = [windows.before.to + 1 - from, windows.after.from - from];
  const common = Array.from({ length: end }, (_, day) => total(controls.map(({ clicks }) => clicks[day]!)));
  const scale = (clicks: number, begin: number, until: number): number =>
    clicks / Math.max(1, total(common.slice(begin, until)));
  const before = change > end ? 0 : scale(inWindow(subject, first, change), first, change);
  const later = expected == null ? 0 : scale(expected, after, end);
  let [exact, shown] = [0, 0];
  return Array.from({ length: Math.max(0, end - first) }, (_, index) => {
    const day = first + index;
    if (day === after) [exact, shown] = [0, 0];
    exact += common[day]! * (day < change ? before : day < after ? (before + later) / 2 : later);
    const value = rounded(exact - shown, 100);
    shown += value;
    return { date: text(from + day), actual: subject.clicks[day]!, expected: expected == null ? null : value };
  });
}
