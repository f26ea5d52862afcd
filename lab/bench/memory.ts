import { readFileSync, writeFileSync } from 'node:fs';

/** Measures the memory of a process from now on, in megabytes; null on systems without /proc. */
export class PeakMemory {
  readonly #pid: number;
  readonly #before: number | null;
  #peak: number | null = null;

  constructor(pid: number) {
    this.#pid = pid;
    try {
      // Resets the kernel's high-water mark to the current size.
      writeFileSync(`/proc/${pid}/clear_refs`, '5');
    } catch {
      // Then the peak counts from the start of the process.
    }
    this.#before = read(pid, 'VmRSS');
  }

  /** Reads the peak; call it while the process runs. */
  look(): this {
    this.#peak = read(this.#pid, 'VmHWM') ?? this.#peak;
    return this;
  }

  get peak(): number | null {
    return this.#peak;
  }

  /** How much more the process took at its peak than at the beginning. */
  get growth(): number | null {
    return this.#peak === null || this.#before === null ? null : this.#peak - this.#before;
  }
}

function read(pid: number, field: string): number | null {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const kilobytes = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1];
    return kilobytes === undefined ? null : Number(kilobytes) / 1000;
  } catch {
    return null;
  }
}

const TICKS_PER_SECOND = 100;

/** The processor time that a process has taken, in seconds; null where it has ended, or on systems without /proc. */
export function processorSeconds(pid: number): number | null {
  return readProcess(pid)?.own ?? null;
}

/** A process: its parent, and the seconds of processor time of itself and of its children that have ended. */
export function readProcess(pid: number): { parent: number; own: number; ended: number } | null {
  try {
    // Its name, in brackets, may contain spaces.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ').map(Number);
    const seconds = (first: number): number => (fields[first]! + fields[first + 1]!) / TICKS_PER_SECOND;
    return { parent: fields[1]!, own: seconds(11), ended: seconds(13) };
  } catch {
    return null;
  }
}
