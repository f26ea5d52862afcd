// The effect of a change is judged by what unchanged pages or keywords make expect, or refused with the reason.
import t from 'tap';
import { CHANGE, DAYS, day, EFFECT_WORLD, keywordClicks, page, pageClicks, uuid } from '../effects/world.ts';
import { makeWorld } from '../world.ts';

const { app, ask, get, key } = await makeWorld(t, EFFECT_WORLD);

const of = (query: Record<string, string>) => ask(`/effects?${new URLSearchParams(query).toString()}`);

/** Clicks of rows between two days, both included. */
function clicksIn(clicks: readonly number[][], units: readonly number[], { from, to }: { from: string; to: string }) {
  return units
    .flatMap((n) => clicks[n]!.filter((_, at) => day(at) >= from && day(at) <= to))
    .reduce((a, b) => a + b, 0);
}

t.test('a change that brought clicks is found, with an interval that holds what was planted', async (t) => {
  const { status, body } = await of({ note: uuid(1) });
  t.equal(status, 200);
  t.match(body, {
    project: { id: 'Proj1', domain: 'shop.example' },
    subject: { note: uuid(1), date: CHANGE, scope: 'page', name: page(0), pages: 1 },
    windows: {
      before: { from: '2025-10-06', to: '2025-11-30' },
      settle: { from: '2025-12-01', to: '2025-12-07' },
      after: { from: '2025-12-08', to: '2026-01-04' },
    },
    verdict: 'more',
    reasons: [],
  });
  const { effect, placebo, control, detectable, daily } = body;
  t.equal(effect.actual, clicksIn(pageClicks, [0], body.windows.after));
  t.ok(effect.low < 0.6 && effect.high > 0.6, `${effect.low} to ${effect.high}`);
  t.ok(effect.p < 0.05 && effect.p > 0);
  t.equal(effect.difference, Math.round((effect.actual - effect.expected) * 100) / 100);
  t.ok(placebo.count > 300 && placebo.falseAlarmRate < 0.1, JSON.stringify(placebo));
  // Page 3 was changed itself.
  t.equal(control.members, 12);
  t.ok(detectable.ratio > 0 && detectable.ratio < 0.5);
  t.match(body.text, /^\d+% more clicks than expected \(95% interval: \+\d+% to \+\d+%\): [\d,]+ against [\d,]+\.$/);
  t.equal(daily.length, 56 + 7 + 28, 'from the first day before to the last one after');
  const after = daily.filter(({ date }: { date: string }) => date >= body.windows.after.from);
  const sum = (name: 'actual' | 'expected') =>
    Math.round(after.reduce((all: number, row: Record<string, number>) => all + row[name]!, 0) * 100) / 100;
  t.strictSame([sum('actual'), sum('expected')], [effect.actual, effect.expected], 'days sum to the effect');
  t.strictSame(
    body.notes.map(({ id }: { id: string }) => id),
    [7, 2, 3, 5, 6, 4].map(uuid),
    'other notes are listed',
  );
  t.match(body.events, [{ kind: 'counting' }, { kind: 'ranking', title: 'December 2025 core update' }]);
});

t.test('the same question by day and page, and in flat rows', async (t) => {
  const { body } = await of({ note: uuid(1) });
  const asked = await of({ date: CHANGE, page: page(0) });
  const { note: _, ...subject } = body.subject;
  t.strictSame(asked.body.subject, subject);
  t.strictSame(asked.body.effect, body.effect);
  const csv = await app.inject({
    url: `/api/v1/projects/Proj1/effects.csv?date=${CHANGE}&page=${encodeURIComponent(page(0))}`,
    headers: { authorization: `Bearer ${key}` },
  });
  const lines = csv.body.trim().split('\r\n');
  t.equal(lines[0], 'date,actual,expected');
  t.strictSame(
    lines.slice(1).map((line) => line.split(',').map((cell, column) => (column === 0 ? cell : Number(cell)))),
    asked.body.daily.map((row: object) => Object.values(row) as unknown),
  );
});

t.test('several pages, page groups, keywords and groups are subjects', async (t) => {
  const both = await ask(`/effects?date=${CHANGE}&page=${page(0)}&page=${page(5)}&page=${page(0)}`);
  t.match(both.body.subject, { scope: 'page', name: '2 pages', pages: 2 });
  t.equal(both.body.effect.actual, clicksIn(pageClicks, [0, 5], both.body.windows.after));
  const pages = await of({ date: CHANGE, pageGroup: 'ones1' });
  t.match(pages.body.subject, { scope: 'pageGroup', name: 'Ones', pages: 6 });
  t.equal(pages.body.effect.actual, clicksIn(pageClicks, [0, 1, 10, 11, 12, 13], pages.body.windows.after));
  const lost = await of({ note: uuid(3) });
  t.match(lost.body, { subject: { scope: 'keyword', name: 'query 1', keywords: 1 }, verdict: 'fewer' });
  t.ok(lost.body.effect.low < -0.6 && lost.body.effect.high > -0.6, JSON.stringify(lost.body.effect));
  const folder = await of({ date: CHANGE, group: 'tops1' });
  t.match(folder.body.subject, { scope: 'group', keywords: 1 });
  t.equal(folder.body.effect.actual, lost.body.effect.actual, 'a folder is the keywords of its groups');
  const pair = await of({ date: CHANGE, group: 'pairs' });
  t.match(pair.body, { subject: { keywords: 2 }, verdict: 'not_comparable', reasons: ['other_note'] });
  t.equal(pair.body.effect.actual, clicksIn(keywordClicks, [2, 3], pair.body.windows.after), 'its numbers stay');
  const day = await ask(`/effects?date=${CHANGE}&page=${page(0)}&page=${page(3)}`);
  t.match(day.body.text, / 2 notes of this day share it\.$/);
  t.strictSame(
    day.body.notes.filter(({ date }: { date: string }) => date === CHANGE).map(({ text }: { text: string }) => text),
    ['Note 1', 'Note 2', 'Note 3', 'Note 5'],
    'they are listed',
  );
  t.notMatch((await of({ date: CHANGE, page: page(0) })).body.text, 'share it');
});

t.test('without an effect, what could not have been seen is said', async (t) => {
  const { body } = await of({ date: CHANGE, page: page(9) });
  t.equal(body.verdict, 'no_evidence');
  t.ok(body.effect.p >= 0.05 && body.effect.low < 0 && body.effect.high > 0, JSON.stringify(body.effect));
  t.match(body.text, /^No evidence of an effect: .* A change under \d+% could not be seen here within 28 days\.$/);
});

t.test('unfinished and future windows have no p, but say what could be detected', async (t) => {
  const soon = await of({ date: day(DAYS - 20), page: page(2) });
  t.match(soon.body, { verdict: 'interim', reasons: [], effect: { p: null, low: null, high: null } });
  t.ok(soon.body.effect.expected > 0 && soon.body.detectable.ratio > 0);
  const future = await of({ date: '2026-06-01', page: page(2) });
  t.match(future.body, { verdict: 'interim', effect: null, daily: [] });
  t.ok(future.body.detectable.ratio > 0.02 && future.body.detectable.ratio < 1);
  const thin = await of({ date: '2026-06-01', page: page(99) });
  t.match(thin.body, { verdict: 'interim', reasons: ['few_clicks'], detectable: null });
  t.match(
    thin.body.text,
    /^Too early to say: .* it would be too small to judge: there were fewer than 30 clicks before/,
  );
  const longer = await of({ date: '2026-06-01', page: page(2), after: '56d' });
  t.ok(longer.body.detectable.ratio < future.body.detectable.ratio, 'longer windows show smaller changes');
});

t.test('what the data cannot carry is refused with its reason', async (t) => {
  const verdicts = async (query: Record<string, string>) => {
    const { verdict, reasons, effect } = (await of(query)).body as Record<string, unknown>;
    return [verdict, reasons, effect === null ? null : 'numbers'];
  };
  t.strictSame(await verdicts({ date: CHANGE, page: 'https://shop.example/rare' }), [
    'too_small',
    ['few_clicks'],
    null,
  ]);
  t.strictSame(await verdicts({ date: '2025-05-10', page: page(2) }), ['not_comparable', ['missing_days'], null]);
  t.strictSame(await verdicts({ note: uuid(2) }), ['not_comparable', ['no_controls'], null]);
  t.strictSame(await verdicts({ note: uuid(6) }), ['not_comparable', ['no_controls'], null]);
  t.strictSame(await verdicts({ note: uuid(4) }), ['not_comparable', ['other_note'], 'numbers']);
  const stored = await get(`/projects/NoDay/effects?date=${CHANGE}&page=x`);
  t.match(stored.body, { verdict: 'not_comparable', reasons: ['needs_stored_days'], effect: null, daily: [] });
  const keywords = await get(`/projects/NoDay/effects?date=${CHANGE}&keyword=kw000`);
  t.match(keywords.body, { verdict: 'not_comparable', reasons: ['needs_stored_days'] });
});
