// A percentage that people read, on screen or in a text, is made of the counts beside it and rounded once.
import { equal } from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import { trafficDropText, userRuleText } from '../../server/alerts/texts.ts';
import { messageOf } from '../../server/channels/message.ts';
import { describeChange } from '../../server/dashboard/client/lib/changes.ts';
import { formatMetric } from '../../server/dashboard/client/lib/format.ts';
import { percentText } from '../../server/domain/shown-numbers.ts';
import { sentenceOf } from '../../server/effects/verdict.ts';
import { judgedOf, textOf } from '../../server/presets/findings-answer.ts';

const row = (now: number, base: number) => {
  const metrics = (clicks: number) => ({ clicks, impressions: 10_000, ctr: null, position: null });
  const difference = now - base;
  const change = { difference, ratio: Math.round((difference / base) * 10_000) / 10_000 };
  const none = { difference: null, ratio: null };
  return {
    ...metrics(now),
    comparison: metrics(base),
    change: { clicks: change, impressions: none, ctr: none, position: none },
    unsafe: {},
  };
};

t.test('the ratio of the API is rounded, what is shown is not rounded again', async (t) => {
  for (const [now, base, shown] of [
    [537, 440, '22.0%'],
    [76, 1584, '95.2%'],
    [1660, 1584, '4.8%'],
    [9000, 440, '20.5×'],
  ] as const) {
    t.equal(describeChange('clicks', row(now, base))?.text, shown, `${now} from ${base}`);
  }
});

/** `part / whole` in percent, in whole numbers, halves away from zero. */
function percentage(part: number, whole: number, decimals: 0 | 1 | 2): string {
  const scale = 100n * 10n ** BigInt(decimals);
  const rounded = (2n * BigInt(part) * scale + BigInt(whole)) / (2n * BigInt(whole));
  const digits = String(rounded).padStart(decimals + 1, '0');
  const [before, after] = [digits.slice(0, digits.length - decimals), digits.slice(digits.length - decimals)];
  return `${Number(before).toLocaleString('en-US')}${decimals === 0 ? '' : `.${after}`}%`;
}

/** Counts of which one is a share of the other that lies at or beside a half of the last decimal. */
const nearHalves = (decimals: 0 | 1 | 2, most = 1) =>
  fc
    .record({
      whole: fc.oneof(
        fc.integer({ min: 1, max: 4000 }),
        fc.integer({ min: 1, max: 40 }).map((n) => n * 200),
      ),
      half: fc.nat(most * 100 * 10 ** decimals - 1),
      beside: fc.constantFrom(-1, 0, 0, 0, 1),
    })
    .map(({ whole, half, beside }) => ({
      whole,
      part: Math.min(most * whole, Math.max(0, Math.round(((half + 0.5) * whole) / (100 * 10 ** decimals)) + beside)),
    }));

const RUNS = { numRuns: 3000 };

function everywhere(
  decimals: 0 | 1 | 2,
  shown: (part: number, whole: number) => readonly string[],
  expected = (part: number, whole: number): string => percentage(part, whole, decimals),
): void {
  fc.assert(
    fc.property(nearHalves(decimals), ({ part, whole }) => {
      for (const text of shown(part, whole)) equal(text, expected(part, whole), `${part} of ${whole}: ${text}`);
    }),
    RUNS,
  );
}

const first = (text: string, pattern: RegExp): string => pattern.exec(text)?.[1] ?? `nothing in: ${text}`;

t.test('percentages of counts at and beside halves', async () => {
  for (const decimals of [0, 1, 2] as const) {
    everywhere(decimals, (part, whole) => [percentText(part / whole, decimals)]);
    // Computed in several steps, with the noise of binary fractions.
    everywhere(decimals, (part, whole) => [percentText(((part / 7) * 3) / ((whole / 7) * 3), decimals)]);
  }
});

t.test('the screen', async () => {
  const shown = (clicks: number, impressions: number) => [formatMetric('ctr', clicks / impressions)];
  everywhere(1, shown);
  everywhere(
    1,
    (part, whole) => [describeChange('clicks', row(whole + part, whole))!.text],
    (part, whole) => (part === 0 ? '0.0%' : percentage(part, whole, 1)),
  );
});

t.test('digests', async () => {
  const digest = (clicks: number, impressions: number, base: number): string =>
    messageOf({
      type: 'digest',
      timestamp: '',
      data: {
        workspace: { id: 'w', name: 'W' },
        period: 'week',
        range: { from: '2026-11-01', to: '2026-11-07' },
        comparison: { from: '2026-10-25', to: '2026-10-31' },
        link: null,
        projects: [
          {
            project: { id: 'p', domain: 'p.example' },
            totals: { clicks, impressions, ctr: Math.round((10_000 * clicks) / impressions) / 10_000, position: 4 },
            comparison: null,
            change: row(clicks, base).change,
            movers: { by: null, up: [], down: [] },
            alerts: [],
            provisional: [],
          },
        ],
      },
    } as Parameters<typeof messageOf>[0]).lines[0]!;
  everywhere(1, (part, whole) => [first(digest(part, whole, 1), /CTR ([^,]+%)/)]);
  const change = (now: number, base: number): string => first(digest(now, 10_000, base), /clicks \(([^)]+)\)/);
  const signed = (sign: string, text: string): string => (text === '0%' ? text : `${sign}${text}`);
  everywhere(
    0,
    (part, whole) => [change(whole + part, whole)],
    (part, whole) => signed('+', percentage(part, whole, 0)),
  );
  everywhere(
    0,
    (part, whole) => [change(whole - part, whole)],
    (part, whole) => signed('-', percentage(part, whole, 0)),
  );
});

t.test('alerts', async () => {
  const drop = { z: -5, isCritical: false };
  const rule = { scope: 'site', metric: 'clicks', window: '7d', against: 'previous', op: 'falls_by' } as const;
  const ctr = { scope: 'site', metric: 'ctr', window: '7d', against: 'value', op: 'lt', value: 2 } as const;
  everywhere(0, (part, whole) => [
    first(trafficDropText({ clicks: whole - part, usual: whole, ...drop }, '2026-11-07').title, /fell (\S+) /),
    first(
      userRuleText(
        'R',
        { rule: { ...rule, value: 10, unit: 'percent' }, about: 'the site' },
        { figure: whole - part, reference: whole },
        '2026-11-07',
      ).title,
      /by (\S+):/,
    ),
  ]);
  everywhere(2, (part, whole) => [
    first(
      userRuleText(
        'R',
        { rule: { ...ctr, unit: 'percent' }, about: 'the site' },
        { figure: part / whole, reference: null },
        '2026-11-07',
      ).title,
      /: (\S+)$/,
    ),
  ]);
});

t.test('texts of findings and effects use computed numbers, not those of the answer', async (t) => {
  const range = { from: '2026-10-01', to: '2026-10-28' };
  const none = { gain: null, since: null, query: 'boots' } as const;
  everywhere(1, (clicks, impressions) => {
    const evidence = { clicks, impressions, position: 4, expectedCtr: clicks / impressions, expectedClicks: clicks };
    const text = textOf({ type: 'low_ctr', evidence, ...none }, range);
    return [first(text, /a CTR of (\S+) /), first(text, /others here have (\S+) /)];
  });
  everywhere(0, (part, whole) => {
    const windows = { before: range, settle: null, after: range };
    const effect = { actual: whole - part, expected: whole, low: -part / whole, high: 0 };
    const text = sentenceOf({ verdict: 'fewer', reasons: [], windows, effect, detectable: null });
    return [first(text, /^(\S+) fewer/)];
  });
  // Of the numbers of the answer, it would be 1.5% and 15 clicks.
  const evidence = { clicks: 3, impressions: 1000, sumPosition: 3040, expectedCtr: 0.01449, expectedClicks: 14.49 };
  const one = { type: 'low_ctr', kind: 'query', row: 0, evidence, gain: null, p: null, sinceAge: null } as const;
  const found = new Map([['ctr', { tested: 1, tests: [], list: [one] }]] as const);
  const rows = [{ kind: 'query', names: ['boots'] }] as unknown as Parameters<typeof judgedOf>[1];
  const steps = judgedOf(found, rows, { tested: 0, splits: [] }, { range, reasons: new Map() });
  let step = steps.next();
  while (!step.done) step = steps.next();
  const [finding] = step.value.findings;
  t.match(finding!.evidence, { expectedCtr: 0.0145, expectedClicks: 14.5, position: 4 });
  t.match(finding!.text, /position 4\.0; others here have 1\.4% there, which would be 14 clicks\.$/);
});
