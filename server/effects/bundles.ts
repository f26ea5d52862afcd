import type { Unit } from './scatter.ts';

/** Fewer units cannot tell what is common from what is their own. */
const MIN_BUNDLES = 8;

/**
 * Puts controls together, as many in each as the subject has members, so that their sums scatter alike. Controls come
 * with most clicks first and are dealt out in turn, so that bundles have similar clicks.
 */
export function bundle(controls: readonly Unit[], members: number): readonly Unit[] {
  const size = Math.min(members, Math.floor(controls.length / MIN_BUNDLES));
  if (size <= 1) return controls;
  const count = Math.floor(controls.length / size);
  return Array.from({ length: count }, (_, first) => {
    const own = controls.filter((_unit, index) => index % count === first && index < count * size);
    const sums = new Float64Array(own[0]!.sums.length);
    for (const unit of own) for (const [day, sum] of unit.sums.entries()) sums[day]! += sum;
    return { sums, changes: own.flatMap(({ changes }) => changes) };
  });
}
