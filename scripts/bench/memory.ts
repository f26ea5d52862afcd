import { readFileSync, writeFileSync } from 'node:fs';

/** The memory of a process from now on, in megabytes; nulls where the system has no /proc. */
export class PeakMemory {
  readonly #pid: number;
  readonly #before: number | null;
  #peak: number | null = null;

  constructor(pid: number) {
    this.#pid = pid;
    try {
      // The kernel's own high-water mark starts again from the present size.
      writeFileSync(`/proc/${pid}/clear_refs`, '5');
    } catch {
      // Without it the peak is that since the process began.
    }
    this.#before = read(pid, 'VmRSS');
  }

  /** Reads the peak while the process lives. */
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
