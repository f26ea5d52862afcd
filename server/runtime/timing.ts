/** A part of the work on a request. */
export type StageName = 'parse' | 'plan' | 'run' | 'format';

/** Measures the stages of a request, which run one after the other. */
export class Stages {
  /** The value of a `Server-Timing` header; empty when no stage has ended. */
  header = '';
  readonly #ended: { readonly name: StageName; readonly ms: number }[] = [];
  #since = performance.now();

  /** Ends a stage. It began when the previous one ended. */
  end(name: StageName): void {
    const now = performance.now();
    const ms = Math.round((now - this.#since) * 1000) / 1000;
    this.#since = now;
    this.#ended.push({ name, ms });
    this.header += `${this.header === '' ? '' : ', '}${name};dur=${ms}`;
  }

  /** The stages that have ended, in order, in milliseconds. */
  get ended(): readonly { readonly name: StageName; readonly ms: number }[] {
    return this.#ended;
  }
}
