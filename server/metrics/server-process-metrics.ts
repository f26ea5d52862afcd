import type { OnAnswered } from '../api/plugins/log.ts';
import { answerParent } from '../runtime/ask-process.ts';
import { type Collected, ProcessMetrics, type ProcessName } from './process-metrics.ts';
import { METRICS_QUESTION } from './question.ts';
import { RequestMetrics } from './request-metrics.ts';
import { type ServerState, watchState } from './server-state.ts';

/** The metrics of a process that serves: of the process, its requests and its state. */
export class ServerProcessMetrics {
  readonly onAnswered: OnAnswered;
  readonly #process: ProcessMetrics;

  constructor(name: ProcessName) {
    this.#process = new ProcessMetrics(name);
    const requests = new RequestMetrics(this.#process.registry);
    this.onAnswered = (answered) => requests.answered(answered);
  }

  /** Adds the state of the server. Call it once. */
  watch(state: ServerState): void {
    watchState(this.#process.registry, state);
  }

  collect(): Promise<Collected> {
    return this.#process.collect();
  }

  /** Answers the process that serves the metrics of all. */
  answerFirstProcess(): void {
    answerParent(METRICS_QUESTION, () => this.collect());
  }

  close(): void | Promise<void> {
    this.#process.close();
  }
}
