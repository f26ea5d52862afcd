import type { RowKind } from '../../../server/findings/finding.ts';
import type { Random } from '../../../test/random.ts';
import { ctrAt, type Noise, type Shown, WEEKS } from './worlds.ts';

/** A row in which there is something to find. */
export interface Planted {
  readonly kind: RowKind;
  readonly row: number;
  readonly type: 'low_ctr' | 'rising' | 'falling' | 'decaying_page';
  /** The clicks in four weeks that the row lacks. */
  readonly gain: number;
}

/** Puts rows of 200 clicks a week with something to find in place of the first rows of a kind. */
export function plant(
  draws: Random,
  shown: Shown,
  { kind, type, rows, noise }: Pick<Planted, 'kind' | 'type'> & { readonly rows: number; readonly noise: Noise },
): { readonly factor: Float64Array; readonly planted: Omit<Planted, 'gain'>[] } {
  const factor = new Float64Array(shown.count * WEEKS).fill(1);
  const planted: Omit<Planted, 'gain'>[] = [];
  for (let row = 0; row < rows; row++) {
    const at = type === 'falling' ? 4 : draws.uniform(2.5, 9);
    let level = 0;
    for (let week = 0; week < WEEKS; week++) {
      const cell = row * WEEKS + week;
      const isNow = week >= WEEKS - 4;
      level = noise.memory * level + noise.deviation * draws.normal();
      const age = Math.max(0, week - (WEEKS - 26));
      const demand = type === 'rising' && isNow ? 2 : type === 'decaying_page' ? 0.95 ** (age / 4.345) : 1;
      shown.position[cell] = type === 'falling' && isNow ? 8 : at;
      shown.impressions[cell] = draws.poisson((200 / ctrAt(at)) * shown.common[week]! * demand * Math.exp(level));
      factor[cell] = type === 'low_ctr' && isNow ? 0.6 : 1;
    }
    planted.push({ kind, row, type });
  }
  return { factor, planted };
}

/** The clicks that a planted row lacks in the last four weeks. */
export function lostClicks({ type, row }: Pick<Planted, 'type' | 'row'>, { impressions, position }: Shown): number {
  let lost = 0;
  for (let week = WEEKS - 4; week < WEEKS; week++) {
    const cell = row * WEEKS + week;
    const n = impressions[cell]!;
    const clicks = n * ctrAt(position[cell]!);
    if (type === 'low_ctr') lost += 0.4 * clicks;
    if (type === 'falling') lost += n * ctrAt(4) - clicks;
    if (type === 'decaying_page') lost += clicks * (0.95 ** (-(week - (WEEKS - 26)) / 4.345) - 1);
  }
  return lost;
}
