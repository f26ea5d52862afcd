import { type Random, seededRandom } from '../../cli/demo/random.ts';

/** Random draws of some distributions; the same seed gives the same sequence. */
export class Draws {
  readonly uniform: Random;

  constructor(seed: string) {
    this.uniform = seededRandom(seed);
  }

  normal(): number {
    return Math.sqrt(-2 * Math.log(this.uniform(1e-12, 1))) * Math.cos(this.uniform(0, 2 * Math.PI));
  }

  poisson(mean: number): number {
    if (mean <= 0) return 0;
    if (mean > 50) return Math.max(0, Math.round(mean + Math.sqrt(mean) * this.normal()));
    const limit = Math.exp(-mean);
    let count = -1;
    for (let product = 1; product > limit; count++) product *= this.uniform(0, 1);
    return count;
  }

  /** How many of `count` stay, each by chance. */
  thinned(count: number, share: number): number {
    let kept = 0;
    for (let one = 0; one < count; one++) if (this.uniform(0, 1) < share) kept++;
    return kept;
  }
}
