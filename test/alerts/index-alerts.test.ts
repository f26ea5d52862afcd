// An alert opens when two inspections in a row find a page out of the index or with another canonical page.
import t, { type Test } from 'tap';
import { putInspections } from '../../server/catalog/inspections.ts';
import { INDEX_FIELDS, type IndexState } from '../../server/domain/index-state.ts';
import { toMicroseconds } from '../../server/domain/instants.ts';
import { PROJECT, type Row } from '../world.ts';
import { evaluate, factsOf, makeAlertWorld, NOW } from './world.ts';

const DAY = 86_400_000;
const DAILY = factsOf(100, 109).site_daily;
const PAGE = 'https://shop.example/boots';
const NOTHING = Object.fromEntries(INDEX_FIELDS.map((field) => [field, null])) as IndexState;
const indexed: IndexState = {
  ...NOTHING,
  verdict: 'PASS',
  coverageState: 'Submitted and indexed',
  googleCanonical: PAGE,
};
const dropped: IndexState = { ...indexed, verdict: 'NEUTRAL', coverageState: 'Crawled - currently not indexed' };
const moved: IndexState = { ...indexed, googleCanonical: 'https://shop.example/shoes' };

type Inspections = readonly (readonly [daysAgo: number, state: IndexState])[];

/** A world whose pages were inspected at these times; the alerts about its index. */
async function alertsAfter(
  t: Test,
  of: Readonly<Record<string, Inspections>>,
  { clicks = 12, isWatched = false } = {},
) {
  const world = await makeAlertWorld(t, { site_daily: DAILY });
  for (const [url, inspections] of Object.entries(of)) {
    for (const [daysAgo, state] of inspections) {
      const result = { url, at: toMicroseconds(NOW - daysAgo * DAY), clicks, isWatched };
      const schedule = { dueAt: 0, reason: null };
      await putInspections(
        world.catalog,
        { id: 'Proj1', property: String(PROJECT['property']) },
        [{ ...result, inspection: { state, lastCrawlTime: null } }],
        schedule,
      );
    }
  }
  await evaluate(world);
  const { alerts } = (await world.ask('/alerts?status=all&limit=500')).body as { alerts: Row[] };
  return { world, alerts: alerts.filter(({ type }) => /index|canonical/.test(String(type))) };
}

t.test(
  'it opens on the second inspection, with the words of the search engine, and resolves when it is back',
  async (t) => {
    const { alerts, world } = await alertsAfter(t, {
      [PAGE]: [
        [20, indexed],
        [13, dropped],
        [12, dropped],
        [6, indexed],
      ],
    });
    t.match(alerts, [
      {
        type: 'page_dropped_from_index',
        kind: 'Page dropped from index',
        severity: 'warning',
        title: `Page is no longer in the index: ${PAGE}`,
        body: /Crawled - currently not indexed\. It had 12 clicks in the 28 days before\. Resolved on 2026-08-26: the page is in the index again\.$/,
        date: '2026-08-20',
        resolvedAt: String,
      },
    ]);
    await evaluate(world);
    const again = (await world.ask('/alerts?status=all&limit=500')).body as { alerts: Row[] };
    t.strictSame(
      again.alerts.filter(({ type }) => type === 'page_dropped_from_index'),
      alerts,
      'the same one',
    );
  },
);

t.test('one inspection, a page that never was in the index, and one without clicks say nothing', async (t) => {
  const one: Inspections = [
    [20, indexed],
    [13, dropped],
    [12, indexed],
    [5, dropped],
    [4, indexed],
  ];
  const never: Inspections = [
    [20, dropped],
    [13, { ...dropped, coverageState: 'Not found (404)' }],
    [12, dropped],
  ];
  t.strictSame((await alertsAfter(t, { [PAGE]: one, 'https://shop.example/never': never })).alerts, []);
  const drop: Inspections = [
    [20, indexed],
    [13, dropped],
    [12, dropped],
  ];
  t.strictSame((await alertsAfter(t, { [PAGE]: drop }, { clicks: 0 })).alerts, []);
  t.equal((await alertsAfter(t, { [PAGE]: drop }, { clicks: 0, isWatched: true })).alerts.length, 1);
  const today: Inspections = [
    [20, indexed],
    [13, dropped],
    [0, dropped],
  ];
  t.strictSame((await alertsAfter(t, { [PAGE]: today })).alerts, [], 'the day is not over');
});

t.test('two inspections with other words are two, too', async (t) => {
  const fetchFailed = { ...dropped, coverageState: 'Server error (5xx)' };
  t.match(
    (
      await alertsAfter(t, {
        [PAGE]: [
          [20, indexed],
          [13, dropped],
          [12, fetchFailed],
        ],
      })
    ).alerts,
    [{ date: '2026-08-20', body: /Server error/, resolvedAt: null }],
  );
});

t.test(
  'another canonical page: two inspections with the same one, until it is as before or four weeks have passed',
  async (t) => {
    const { alerts } = await alertsAfter(t, {
      [PAGE]: [
        [21, indexed],
        [20, indexed],
        [13, moved],
        [12, moved],
        [5, indexed],
      ],
    });
    t.match(alerts, [
      {
        type: 'canonical_changed',
        title: `Another page is canonical for ${PAGE}`,
        date: '2026-08-20',
        resolvedAt: String,
      },
    ]);
    t.match(alerts[0]!['body'], /takes https:\/\/shop\.example\/shoes .*Resolved on 2026-08-27: it is as before\.$/);
    const old = await alertsAfter(t, {
      [PAGE]: [
        [57, indexed],
        [50, indexed],
        [40, moved],
        [39, moved],
      ],
    });
    t.match(old.alerts, [{ body: /Resolved on 2026-08-21: after 28 days this is the new state\.$/ }]);
    const third = { ...indexed, googleCanonical: 'https://shop.example/hats' };
    t.strictSame(
      (
        await alertsAfter(t, {
          [PAGE]: [
            [21, indexed],
            [20, indexed],
            [13, moved],
            [12, third],
            [5, indexed],
          ],
        })
      ).alerts,
      [],
    );
    const first = await alertsAfter(t, {
      [PAGE]: [
        [20, moved],
        [13, indexed],
        [12, indexed],
      ],
    });
    t.strictSame(first.alerts, [], 'a single first inspection does not say what is usual');
  },
);

t.test('many pages on a day are one alert, which resolves with the last of them', async (t) => {
  const pages = Array.from({ length: 11 }, (_, page) => `https://shop.example/${page}`);
  const drop: Inspections = [
    [20, indexed],
    [13, dropped],
    [12, dropped],
  ];
  const open = await alertsAfter(t, Object.fromEntries(pages.map((url) => [url, drop])));
  t.match(open.alerts, [{ title: '11 pages are no longer in the index', body: /shop\.example\/10/, resolvedAt: null }]);
  const back = await alertsAfter(
    t,
    Object.fromEntries(pages.map((url, at) => [url, [...drop, [5 - at / 10, indexed]] as Inspections])),
  );
  // The pages were in the index again from the 27th at noon to the 28th.
  t.match(back.alerts, [{ body: /Resolved on 2026-08-28: it is over for all of these pages\.$/, resolvedAt: String }]);
  t.equal(back.alerts.length, 1);
});
