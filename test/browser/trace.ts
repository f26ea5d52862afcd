import type { Browser, Page } from 'playwright-core';

/** An event of Chromium's trace; times in microseconds. `tdur` is processor time of its thread. */
interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  readonly ts: number;
  readonly dur?: number;
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/** Work of the main thread of a page, in milliseconds of processor time, which other processes change little. */
export interface Work {
  readonly total: number;
  /** The longest task. */
  readonly longest: number;
  /** Style, layout and paint. */
  readonly rendering: number;
}

const CATEGORIES = ['devtools.timeline', 'disabled-by-default-devtools.timeline'];
const RENDERING = new Set(['UpdateLayoutTree', 'Layout', 'PrePaint', 'Paint', 'Layerize', 'Commit']);

/** Runs something in a page under Chromium's own trace. */
export async function traced<T>(
  browser: Browser,
  page: Page,
  action: () => Promise<T>,
): Promise<{ work: Work; result: T }> {
  await browser.startTracing(page, { categories: CATEGORIES });
  const result = await action();
  // The end of what the action has caused, such as a frame.
  await page.waitForTimeout(150);
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] };
  return { work: workOf(traceEvents), result };
}

/** The work of the busiest main thread: that of the page. */
function workOf(events: readonly TraceEvent[]): Work {
  const isMain = new Set(
    events.filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain').map(threadOf),
  );
  const byThread = Map.groupBy(
    events.filter((event) => event.ph === 'X' && isMain.has(threadOf(event))),
    threadOf,
  );
  const works = [...byThread.values()].map((of): Work => {
    const tasks = of.filter(({ name }) => name === 'RunTask').map(({ tdur = 0 }) => tdur / 1000);
    const rendering = of.filter(({ name }) => RENDERING.has(name)).map(({ tdur = 0 }) => tdur / 1000);
    return { total: sum(tasks), longest: Math.max(0, ...tasks), rendering: sum(rendering) };
  });
  const busiest = works.toSorted((a, b) => b.total - a.total)[0];
  if (busiest === undefined || busiest.total === 0) throw new Error('The trace has no work of a page.');
  return busiest;
}

function threadOf({ pid, tid }: TraceEvent): string {
  return `${pid} ${tid}`;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** `12 ms (9 to 30)`: the median, and the least and the most. */
export function shown(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b);
  const text = (value: number): string => value.toFixed(value < 10 ? 1 : 0);
  return `${text(sorted[Math.floor(sorted.length / 2)]!)} ms (${text(sorted[0]!)} to ${text(sorted.at(-1)!)})`;
}
