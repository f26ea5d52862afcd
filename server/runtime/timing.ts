/** A part of the work on a request. */
export type StageName = 'parse' | 'plan' | 'run' | 'format';

export type StageTimes = Readonly<Partial<Record<StageName, number>>>;

/** Measures the stages of a request, one after the other. */
export class Stages {
  readonly #times: Partial<Record<StageName, number>> = {};
  #since = performance.now();

  /** Ends a stage, which began where the one before it ended. */
  end(name: StageName): void {
    const now = performance.now();
    this.#times[name] = (this.#times[name] ?? 0) + now - this.#since;
    this.#since = now;
  }

  /** The stages that have ended, in milliseconds. */
  get times(): StageTimes {
    return this.#times;
  }

  /** The value of a `Server-Timing` header; empty when no stage has ended. */
  get header(): string {
    let header = '';
    for (const name in this.#times) {
      if (header !== '') header += ', ';
      header += `${name};dur=${Math.round(this.#times[name as StageName]! * 1000) / 1000}`;
    }
    return header;
  }
}
