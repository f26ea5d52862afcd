import { WEEKS, type WeekRows, type World } from './worlds.ts';

/** A rule of thumb with fixed thresholds, as other tools have them. */
export interface Rule {
  readonly name: string;
  /** Rows that it reports, as `kind row`. */
  readonly found: (world: World) => string[];
}

const KINDS = ['queries', 'pages'] as const;

export const RULES: readonly Rule[] = [
  {
    name: 'movers: clicks ±20 %, ≥ 50 impressions',
    found: (world) =>
      rowsOf(world, ({ now, before }) => now.impressions >= 50 && changed(now.clicks, before.clicks, 0.2)),
  },
  {
    name: 'CTR below half or above twice that of the rounded position, ≥ 100 impressions',
    found: (world) => {
      const bins = new Map<string, { clicks: number; impressions: number }>();
      const binOf = (kind: string, { position }: Sums): string => `${kind} ${Math.round(position)}`;
      rowsOf(world, ({ now }, kind) => {
        const bin = bins.get(binOf(kind, now)) ?? { clicks: 0, impressions: 0 };
        bins.set(binOf(kind, now), { clicks: bin.clicks + now.clicks, impressions: bin.impressions + now.impressions });
        return false;
      });
      return rowsOf(world, ({ now }, kind) => {
        const { clicks, impressions } = bins.get(binOf(kind, now))!;
        const expected = (now.impressions * clicks) / impressions;
        return now.impressions >= 100 && (now.clicks < expected / 2 || now.clicks > 2 * expected);
      });
    },
  },
  {
    name: 'low CTR: below 1 % in the first ten places, ≥ 100 impressions',
    found: (world) =>
      rowsOf(world, ({ now }) => now.impressions >= 100 && now.position <= 10 && now.clicks < 0.01 * now.impressions),
  },
  {
    name: 'decay: pages with clicks −20 %, ≥ 50 clicks before',
    found: (world) =>
      rowsOf(
        world,
        ({ now, before }, kind) => kind === 'pages' && before.clicks >= 50 && now.clicks <= 0.8 * before.clicks,
      ),
  },
];

interface Sums {
  readonly clicks: number;
  readonly impressions: number;
  readonly position: number;
}

const changed = (now: number, before: number, by: number): boolean =>
  before === 0 ? now > 0 : Math.abs(now / before - 1) >= by;

function rowsOf(
  world: World,
  test: (windows: { now: Sums; before: Sums }, kind: (typeof KINDS)[number]) => boolean,
): string[] {
  return KINDS.flatMap((kind) =>
    Array.from({ length: world[kind].count }, (_, row) => row).flatMap((row) => {
      const windows = { now: sumsOf(world[kind], row, WEEKS - 4), before: sumsOf(world[kind], row, WEEKS - 8) };
      return test(windows, kind) ? [`${kind} ${row}`] : [];
    }),
  );
}

function sumsOf({ clicks, impressions, position }: WeekRows, row: number, from: number): Sums {
  const sums = { clicks: 0, impressions: 0, position: 0 };
  for (let cell = row * WEEKS + from; cell < row * WEEKS + from + 4; cell++) {
    sums.clicks += clicks[cell]!;
    sums.impressions += impressions[cell]!;
    sums.position += impressions[cell]! * position[cell]!;
  }
  return { ...sums, position: sums.impressions > 0 ? sums.position / sums.impressions : 100 };
}
