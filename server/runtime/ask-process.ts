import type { ChildProcess } from 'node:child_process';

interface Question {
  readonly question: string;
  readonly id: number;
}

interface Answer {
  readonly answerTo: number;
  readonly answer: unknown;
}

let questions = 0;

/**
 * Asks a child process that calls `answerParent`. Rejects if it does not answer in time or ends.
 * @param timeout milliseconds
 */
export async function askChild(child: ChildProcess, question: string, timeout: number): Promise<unknown> {
  questions += 1;
  const id = questions;
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const onMessage = (message: unknown): void => {
    const { answerTo, answer } = (message ?? {}) as Partial<Answer>;
    if (answerTo === id) resolve(answer);
  };
  const onEnd = (): void => reject(new Error('The process has ended.'));
  const timer = setTimeout(() => reject(new Error(`The process did not answer within ${timeout} ms.`)), timeout);
  child.on('message', onMessage);
  child.once('disconnect', onEnd);
  try {
    if (!child.connected) onEnd();
    else child.send({ question, id } satisfies Question, (error) => error && reject(error));
    return await promise;
  } finally {
    clearTimeout(timer);
    child.off('message', onMessage);
    child.off('disconnect', onEnd);
  }
}

/** Answers a question of the parent process, if there is one. Sends nothing if `answer` fails. */
export function answerParent(question: string, answer: () => Promise<unknown>): void {
  process.on('message', (message: unknown) => {
    const asked = (message ?? {}) as Partial<Question>;
    if (asked.question !== question || asked.id === undefined) return;
    const { id } = asked;
    answer().then(
      // The parent may have ended.
      (value) => process.send?.({ answerTo: id, answer: value } satisfies Answer, undefined, undefined, () => {}),
      () => {},
    );
  });
}
