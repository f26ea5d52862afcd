import type { PeakMemory } from './memory.ts';
import type { Timing } from './rounds.ts';

/** One line of the table: what was measured, how long it took, and what it is compared with. */
export interface Line extends Timing {
  readonly name: string;
  readonly requestsPerSecond?: number;
  readonly rowsPerSecond?: number;
  /** Megabytes of answers per second. */
  readonly throughput?: number;
  readonly memory?: Memory;
  /** Milliseconds of processor time for each request: of the servers, and of the stores that they ask. */
  readonly processor?: { readonly servers: number; readonly stores: number };
  /** Other measurements to compare with: median milliseconds, unless the name says otherwise. */
  readonly baselines: Readonly<Record<string, number>>;
}

interface Memory {
  /** Peak memory of the server process in megabytes. */
  readonly peak: number | null;
  /** Growth of that memory in megabytes. */
  readonly growth: number | null;
}

/** A measured value and its required bound. */
export interface Target {
  readonly name: string;
  readonly value: number | null;
  readonly unit: string;
  readonly bound: { readonly max: number } | { readonly min: number };
  /** Null if it could not be measured. */
  readonly met: boolean | null;
}

export interface Outcome {
  readonly lines: readonly Line[];
  readonly targets: readonly Target[];
}

export function memoryOf(memory: PeakMemory): Memory {
  return { peak: memory.look().peak, growth: memory.growth };
}

export function atMost(name: string, value: number | null, max: number, unit = '×'): Target {
  return { name, value, unit, bound: { max }, met: value === null ? null : value <= max };
}

export function atLeast(name: string, value: number | null, min: number, unit = '×'): Target {
  return { name, value, unit, bound: { min }, met: value === null ? null : value >= min };
}
