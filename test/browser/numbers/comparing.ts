import { randomUUID } from 'node:crypto';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { settled, watchedPage } from '../browser.ts';
import { WIDE } from '../setup.ts';
import type { Answer } from './expected.ts';
import type { NumbersWorld } from './numbers-world.ts';

/** The numbers of cells: a value, and how it changed. */
const CELLS = `const changeOf = (change) => {
  const direction = /^(up|down)/.exec(change.querySelector('.sr-only')?.textContent ?? '')?.[0];
  return [direction, change.querySelector('.size').textContent].filter(Boolean).join(' ');
};
const textOf = (cell) => {
  const change = cell.querySelector('.change');
  const value = (cell.querySelector('.value') ?? (change === null ? cell : null))?.textContent.trim() ?? '';
  return change === null ? value : (value + ' ' + changeOf(change)).trim();
};`;

/** The number that a cell shows; undefined if it is empty, NaN for other texts. */
function numberOf(text: string): number | undefined {
  if (text === '–') return undefined;
  const [, digits = '', unit = ''] = /^([\d,.]+)([KM%]?)$/.exec(text) ?? [];
  return digits === '' ? Number.NaN : Number(digits.replaceAll(',', '')) * ({ K: 1e3, M: 1e6 }[unit] ?? 1);
}

/** A page of somebody who is signed in, which compares what it shows with what the API answers. */
export class Comparing {
  /** Cells that were compared. */
  static compared = 0;
  readonly differences: string[] = [];
  readonly #context: BrowserContext;
  readonly page: Page;
  readonly problems: string[];
  readonly #origin: string;
  #where = '';

  constructor(context: BrowserContext, watched: { page: Page; problems: string[] }, origin: string) {
    this.#context = context;
    this.page = watched.page;
    this.problems = watched.problems;
    this.#origin = origin;
  }

  open(path: string): Promise<void> {
    return this.openAddress(`${this.#origin}/app${path}`);
  }

  async openAddress(address: string): Promise<void> {
    this.#where = address.slice(this.#origin.length);
    await this.page.goto(address);
    await settled(this.page);
    await this.#checkOrder();
  }

  /** Rows follow the heading that says how they are sorted, and lists of most clicks are that; empty values come last. */
  async #checkOrder(): Promise<void> {
    const lists = (await this.page.evaluate(`(() => { ${CELLS}
      const headings = [...document.querySelectorAll('th[aria-sort]')].filter((head) => !head.querySelector('.by-change'));
      const sorted = headings.map((head) => ({
        name: head.textContent.trim() + ', ' + head.ariaSort,
        isDescending: head.ariaSort === 'descending',
        values: [...head.closest('table').tBodies].flatMap((body) => [...body.rows]).filter((row) => !row.querySelector('.total-name')).map((row) => {
          const cell = row.cells[head.cellIndex];
          return (cell.querySelector('.value, .text') ?? cell).textContent.trim();
        }),
      }));
      const top = [...document.querySelectorAll('.top-rows')].map((list) => ({
        name: list.ariaLabel,
        isDescending: true,
        values: [...list.querySelectorAll('.bar-value')].map((value) => value.textContent.trim()),
      }));
      return [...sorted, ...top];
    })()`)) as { name: string; isDescending: boolean; values: string[] }[];
    for (const { name, isDescending, values } of lists) {
      const numbers = values.map(numberOf);
      const keys = numbers.some(Number.isNaN) ? values : numbers;
      for (let row = 1; row < keys.length; row++) {
        Comparing.compared++;
        const [before, after] = [keys[row - 1], keys[row]];
        const isOrdered =
          after === undefined || (before !== undefined && (isDescending ? before >= after : before <= after));
        if (!isOrdered) this.differences.push(`${this.#where} ${name}: row ${row} has ${after} after ${before}`);
      }
    }
  }

  /** An answer of the API that the page itself asks. */
  async ask(path: string): Promise<Answer> {
    const headers = { 'sec-fetch-site': 'same-origin' };
    const response = await this.#context.request.get(`${this.#origin}/app/api${path}`, { headers });
    const body = (await response.json()) as Answer;
    if (!response.ok()) throw new Error(`${path}: ${JSON.stringify(body)}`);
    return body;
  }

  /** The address of a new link that shows some screens of a project. */
  async share(project: string, screens: readonly string[]): Promise<string> {
    const response = await this.#context.request.post(`${this.#origin}/app/api/projects/${project}/shares`, {
      headers: { 'sec-fetch-site': 'same-origin', 'idempotency-key': randomUUID() },
      data: { screens },
    });
    return ((await response.json()) as { url: string }).url;
  }

  /** Compares rows of cells; notes each cell that differs. */
  compare(what: string, shown: readonly (readonly string[])[], expected: readonly (readonly string[])[]): void {
    const note = (text: string): void => void this.differences.push(`${this.#where} ${what}: ${text}`);
    if (shown.length !== expected.length) note(`${shown.length} rows instead of ${expected.length}`);
    for (const [index, row] of expected.entries()) {
      for (const [column, text] of row.entries()) {
        Comparing.compared++;
        const found = shown[index]?.[column];
        if (found !== text) note(`row ${index}, column ${column} is '${found}' instead of '${text}'`);
      }
      if (shown[index] !== undefined && shown[index].length !== row.length) note(`row ${index} has other columns`);
    }
  }

  /** The names and numbers of the rows of the tables in a part of the page. */
  async rows(part: string, { name = 'th', cells = 'td.number' } = {}): Promise<string[][]> {
    const nameOf =
      name === ''
        ? ''
        : `(row.querySelector('${name} .text, ${name} .bar-name') ?? row.querySelector('${name}')).textContent.trim(),`;
    return (await this.page.evaluate(`(() => { ${CELLS}
      return [...document.querySelectorAll(${JSON.stringify(`${part} tbody tr`)})].map((row) =>
        [${nameOf} ...[...row.querySelectorAll('${cells}')].map(textOf)]);
    })()`)) as string[][];
  }

  /** The four tiles: value and change, and what it was before. */
  async tiles(): Promise<string[][]> {
    return (await this.page.evaluate(`(() => { ${CELLS}
      return [...document.querySelectorAll('.metrics .metric')].map((tile) => {
        const change = tile.querySelector('.change');
        const value = tile.querySelector('.metric-value').textContent.trim();
        const before = tile.querySelector('.muted')?.textContent.trim() ?? '';
        return [change === null ? value : value + ' ' + changeOf(change), before];
      });
    })()`)) as string[][];
  }

  async texts(selector: string): Promise<string[]> {
    return (await this.page.locator(selector).allInnerTexts()).map((text) => text.trim());
  }

  close(): Promise<void> {
    return this.#context.close();
  }
}

/** Somebody with a session, and a limit of requests, of their own. */
export async function comparing(browser: Browser, world: NumbersWorld): Promise<Comparing> {
  const context = await browser.newContext({ viewport: WIDE, locale: 'en-US' });
  await context.addCookies([
    {
      name: 'ordinate',
      value: await world.cookie(),
      domain: '127.0.0.1',
      path: '/app',
      httpOnly: true,
      sameSite: 'Strict',
    },
  ]);
  return new Comparing(context, await watchedPage(context, world.origin), world.origin);
}
