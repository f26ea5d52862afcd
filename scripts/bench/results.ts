import type { PeakMemory } from './memory.ts';
import type { Timing } from './rounds.ts';

/** One line of the table: what was asked, how long it took, and what it is compared with. */
export interface Line extends Timing {
  readonly name: string;
  readonly requestsPerSecond?: number;
  readonly rowsPerSecond?: number;
  /** Megabytes a second of answers. */
  readonly throughput?: number;
  readonly memory?: Memory;
  /** What else was timed, in milliseconds at the median unless the name says otherwise. */
  readonly floors: Readonly<Record<string, number>>;
}

interface Memory {
  /** Megabytes of the server process at its peak. */
  readonly peak: number | null;
  /** Megabytes above what it had before. */
  readonly growth: number | null;
}

/** A number that has a bound in the table of targets. */
export interface Target {
  readonly name: string;
  readonly value: number | null;
  readonly unit: string;
  readonly bound: { readonly most: number } | { readonly least: number };
  /** Null when it could not be measured here. */
  readonly met: boolean | null;
}

export interface Outcome {
  readonly lines: readonly Line[];
  readonly targets: readonly Target[];
}

export function memoryOf(memory: PeakMemory): Memory {
  return { peak: memory.look().peak, growth: memory.growth };
}

export function atMost(name: string, value: number | null, most: number, unit = '×'): Target {
  return { name, value, unit, bound: { most }, met: value === null ? null : value <= most };
}

export function atLeast(name: string, value: number | null, least: number, unit = '×'): Target {
  return { name, value, unit, bound: { least }, met: value === null ? null : value >= least };
}
