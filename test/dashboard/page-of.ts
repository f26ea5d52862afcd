import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { compileFunction } from 'node:vm';
import { build } from 'esbuild';
import { type HTMLElement, Window } from 'happy-dom';
import type { Test } from 'tap';
import { NOW, type World } from '../world.ts';

const CLIENT = join(import.meta.dirname, '../../server/dashboard/client');

/** The page as one function of what a browser has, made once for each process. */
let bundled: Promise<string> | undefined;

async function bundle(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(CLIENT, 'main.tsx')],
    bundle: true,
    write: false,
    format: 'iife',
    target: 'es2024',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    outdir: '/',
    loader: { '.svg': 'dataurl' },
    logLevel: 'warning',
  });
  return outputFiles.find(({ path }) => path.endsWith('.js'))!.text;
}

/** Turns without a request after which a page has read its answers, asked for what they lead to, and drawn them. */
const QUIET = 30;

/** A timer of the page, which only `pass` ends. */
interface Timer {
  readonly id: number;
  readonly at: number;
  readonly work: () => void;
}

const BLOCKS =
  /^(?:main|section|header|footer|nav|div|h1|h2|h3|p|ul|ol|li|dl|dt|dd|table|caption|thead|tbody|tr|figure|figcaption|form|fieldset|details|summary|pre)$/;
/** Classes that only place and size. */
const PLAIN = /^(?:button|text|value|size|row-name|name|number|select|muted|link-button|icon-button|menu|word)$/;

const isBlock = (node: HTMLElement): boolean => node.nodeType === 1 && BLOCKS.test(node.tagName.toLowerCase());
const childrenOf = (node: HTMLElement): HTMLElement[] => [...node.childNodes] as unknown as HTMLElement[];
const attribute = (node: HTMLElement, name: string, shown = name): string =>
  node.hasAttribute(name) ? ` ${shown}=${node.getAttribute(name)}` : '';

function classesOf(node: HTMLElement): string {
  const names = (node.getAttribute('class') ?? '').split(' ').filter((name) => name !== '' && !PLAIN.test(name));
  return names.map((name) => `.${name}`).join('');
}

/** A part of a line: links, buttons and fields with what they say besides their text. */
function wordsOf(node: HTMLElement): string {
  if (node.nodeType !== 1) return (node.textContent ?? '').replaceAll(/\s+/g, ' ');
  const tag = node.tagName.toLowerCase();
  if (tag === 'svg') return node.classList.contains('sparkline') ? sparkOf(node) : '';
  const text = childrenOf(node).map(wordsOf).join('').trim();
  const more = ['title', 'style', 'aria-current', 'aria-pressed', 'aria-expanded', 'disabled']
    .map((name) => attribute(node, name))
    .join('');
  if (tag === 'select') {
    const { value } = node as unknown as { value: string };
    const options = [...node.querySelectorAll('option')].map(
      (one) => `${one.getAttribute('value')}:${one.textContent}`,
    );
    return `{${node.getAttribute('aria-label') ?? ''} ${value} of ${options.join('|')}}`;
  }
  if (tag === 'input' || tag === 'textarea') {
    const { value, checked } = node as unknown as { value: string; checked: boolean };
    const names = ['type', 'name', 'aria-label', 'placeholder', 'max', 'required'].map((name) => attribute(node, name));
    return `[${tag}${names.join('')}${more}${value === '' ? '' : ` value=${value}`}${checked ? ' checked' : ''}]`;
  }
  if (tag === 'a') return `[${text}](${node.getAttribute('href')}${more}${classesOf(node)})`;
  if (tag === 'button') return `<${text}${more}${classesOf(node)}>`;
  const named = `${classesOf(node)}${more}`;
  return named === '' ? `${text === '' ? '' : ` ${text} `}` : ` ${named}{${text}} `;
}

const sparkOf = (node: HTMLElement): string =>
  `~${node.getAttribute('aria-label')}: ${[...node.querySelectorAll('path')].map((path) => path.getAttribute('d')).join(' ')}~`;

const tidy = (line: string): string => line.replaceAll(/ +/g, ' ').trim();

/** The lines of a block. */
function outlineOf(node: HTMLElement, depth = 0): string[] {
  const tag = node.tagName.toLowerCase();
  const indent = '  '.repeat(depth);
  const names = ['aria-label', 'style', 'aria-sort', 'title', 'open'].map((name) => attribute(node, name)).join('');
  const head = `${indent}${tag}${classesOf(node)}${names}`;
  if (tag === 'tr') {
    const cells = childrenOf(node).map((cell) => {
      const sort = attribute(cell, 'aria-sort', 'sort');
      return tidy(`${wordsOf(cell)}${sort}`);
    });
    return [`${head} ${cells.join(' | ')}`];
  }
  // What draws a chart is in the drawing.
  if (node.classList.contains('chart-canvas')) return [head];
  const lines: string[] = [];
  let words = '';
  const end = (): void => {
    if (tidy(words) !== '') lines.push(`${indent}  ${tidy(words)}`);
    words = '';
  };
  for (const child of childrenOf(node)) {
    if (child.nodeType === 1 && (isBlock(child) || child.querySelector('table, p, ul, li, div, figure') !== null)) {
      end();
      lines.push(...outlineOf(child, depth + 1));
    } else words += wordsOf(child);
  }
  if (lines.length === 0) return [tidy(words) === '' ? head : `${head} ${tidy(words)}`];
  end();
  return [head, ...lines];
}

/** Texts, lines and areas with their colours, since the last time that the canvas was cleared. */
function drawingOf(steps: readonly string[]): string[] {
  const last = steps.findLastIndex((step) => step.startsWith('clearRect'));
  const shown: string[] = [];
  let [stroke, fill, isHatch] = ['', '', false];
  for (const step of steps.slice(last + 1)) {
    if (step.startsWith('strokeStyle=')) stroke = step.slice(12);
    else if (step.startsWith('fillStyle=')) fill = step.slice(10);
    else if (step.startsWith('globalAlpha=')) isHatch = step === 'globalAlpha=0.28';
    else if (step.startsWith('restore')) isHatch = false;
    else if (/^(?:stroke|fill|clip) \S/.test(step)) shown.push(`${step} ${step.startsWith('fill') ? fill : stroke}`);
    else if (/^(?:fillText|rect|arc|fillRect) /.test(step)) shown.push(`${step} ${fill}`);
    else if (!isHatch && stroke !== '--line' && /^(?:moveTo|lineTo) /.test(step))
      shown.push(`${step} ${stroke} ${fill}`);
  }
  return shown;
}

/** Numbers of pixels, which need no fractions. */
const rounded = (value: unknown): string => (typeof value === 'number' ? String(Math.round(value)) : String(value));

/** A path that knows its steps. */
class Path {
  readonly steps: string[] = [];
  readonly moveTo = (x: number, y: number): void => void this.steps.push(`M${rounded(x)},${rounded(y)}`);
  readonly lineTo = (x: number, y: number): void => void this.steps.push(`L${rounded(x)},${rounded(y)}`);
  readonly rect = (...sides: number[]): void => void this.steps.push(`R${sides.map(rounded).join()}`);
  readonly arc = (x: number, y: number): void => void this.steps.push(`A${rounded(x)},${rounded(y)}`);
  readonly addPath = (path: Path): void => void this.steps.push(...path.steps);
  readonly closePath = (): void => undefined;
}

/** What is drawn on each canvas: pages that end may still draw on theirs. */
const drawnOn = new WeakMap<object, string[]>();

/** The context of a canvas, which notes what is drawn. */
function contextOf(canvas: object): object {
  const steps = drawnOn.get(canvas) ?? [];
  drawnOn.set(canvas, steps);
  const note =
    (name: string) =>
    (...given: unknown[]): void => {
      const shown = given.map((one) => (one instanceof Path ? one.steps.join(' ') : rounded(one)));
      steps.push(`${name} ${shown.join(' ')}`);
    };
  return new Proxy({} as Record<string, unknown>, {
    get: (known, name: string) => (name === 'measureText' ? () => ({ width: 10 }) : (known[name] ?? note(name))),
    set: (known, name: string, value) => {
      known[name] = value;
      if (/Style$|lineWidth|globalAlpha/.test(name)) steps.push(`${name}=${String(value)}`);
      return true;
    },
  });
}

/**
 * The page at an address, in a document without layout: it asks the server of a world, in the session of a cookie, until
 * nothing is left to ask. Time passes only by `pass`.
 */
export async function openPage(t: Test, { app: server }: Pick<World, 'app'>, address: string, cookie: string) {
  bundled ??= bundle();
  const code = await bundled;
  const window = new Window({ url: `http://localhost${address}`, width: 1280, height: 800 });
  t.teardown(() => window.happyDOM.close());
  const { document } = window;
  document.body.innerHTML = '<div id="app"></div>';
  const requests: string[] = [];
  let open = 0;
  const fetch = async (path: string, init: RequestInit = {}): Promise<Response> => {
    open += 1;
    try {
      requests.push(`${init.method ?? 'GET'} ${path}`);
      const headers = { 'sec-fetch-site': 'same-origin', host: 'localhost', cookie, ...(init.headers as object) };
      const answer = await server.inject({
        ...{ method: (init.method ?? 'GET') as 'GET', url: path, headers },
        ...(init.body ? { payload: init.body as string } : {}),
      });
      const { statusCode: status } = answer;
      return new Response(status === 204 ? null : answer.body, {
        status,
        headers: answer.headers as Record<string, string>,
      });
    } finally {
      open -= 1;
    }
  };
  let now = NOW;
  let timers: Timer[] = [];
  let last = 0;
  const setTimeout = (work: () => void, wait = 0): number => {
    last += 1;
    if (wait === 0) setImmediate(work);
    else timers.push({ id: last, at: now + wait, work });
    return last;
  };
  const clearTimeout = (id: number): void => {
    timers = timers.filter((timer) => timer.id !== id);
  };
  const copied: string[] = [];
  // Files that the page saves.
  const saved: Blob[] = [];
  Object.assign(window.HTMLAnchorElement.prototype, { click: () => undefined });
  Object.assign(window.HTMLCanvasElement.prototype, {
    getContext(this: object) {
      return contextOf(this);
    },
  });
  Object.defineProperty(window.HTMLElement.prototype, 'clientWidth', { get: () => 800 });
  const browser = {
    ...{ window, self: window, document, location: window.location, history: window.history, fetch },
    ...{ setTimeout, clearTimeout, innerWidth: 1280, innerHeight: 800, scrollY: 0, devicePixelRatio: 1 },
    localStorage: window.localStorage,
    URL: class extends URL {
      static override createObjectURL = (blob: Blob): string => `blob:${saved.push(blob)}`;
    },
    navigator: { clipboard: { writeText: async (text: string) => void copied.push(text) }, userAgent: '' },
    matchMedia: window.matchMedia.bind(window),
    // Colours are their names.
    getComputedStyle: () => ({ getPropertyValue: (name: string) => name, colorScheme: 'light' }),
    Path2D: Path,
    addEventListener: window.addEventListener.bind(window),
    removeEventListener: window.removeEventListener.bind(window),
    scrollTo: () => undefined,
    requestAnimationFrame: (work: () => void) => setImmediate(work),
    cancelAnimationFrame: clearImmediate,
    ResizeObserver: window.ResizeObserver,
    IntersectionObserver: window.IntersectionObserver,
    ...{ Event: window.Event, CustomEvent: window.CustomEvent, KeyboardEvent: window.KeyboardEvent },
    ...{ HTMLElement: window.HTMLElement, Node: window.Node, PointerEvent: window.PointerEvent },
    Date: class extends Date {
      constructor(...given: [] | [number | string]) {
        if (given.length === 0) super(now);
        else super(given[0]);
      }
      static override now = (): number => now;
    },
  };
  const settle = async (): Promise<void> => {
    for (let quiet = 0; quiet < QUIET; quiet = open > 0 ? 0 : quiet + 1) await nextTurn();
  };
  compileFunction(code, Object.keys(browser))(...Object.values(browser));
  await settle();
  const app = document.querySelector('#app')!;
  return {
    ...{ document, requests, copied, saved, settle, storage: window.localStorage },
    /** What the reader sees, without the frame around the screen. */
    outline: () => outlineOf((document.querySelector('main') ?? app) as HTMLElement).join('\n'),
    /** What the canvas shows since it was cleared last. */
    drawn: () => [...document.querySelectorAll('canvas')].flatMap((canvas) => drawingOf(drawnOn.get(canvas) ?? [])),
    address: () => window.location.pathname + window.location.search,
    /** Lets time pass, in milliseconds. */
    pass: async (milliseconds: number) => {
      now += milliseconds;
      const due = timers.filter(({ at }) => at <= now);
      timers = timers.filter(({ at }) => at > now);
      for (const { work } of due) work();
      await settle();
    },
    /** Presses the first button whose text begins so. */
    press: async (text: string) => {
      const buttons = [...document.querySelectorAll('button')] as unknown as HTMLElement[];
      buttons.find((button) => button.textContent.trim().startsWith(text))!.click();
      await settle();
    },
    /** Types into the field with a label. */
    type: async (label: string, text: string) => {
      const named = [...document.querySelectorAll('label')].find((one) => one.textContent.startsWith(label));
      const id = named?.getAttribute('for') ?? '';
      const found = document.getElementById(id) ?? document.querySelector(`[aria-label="${label}"]`);
      const field = found as unknown as { value: string } & HTMLElement;
      field.value = text;
      field.dispatchEvent(new window.Event('input', { bubbles: true }));
      await settle();
    },
    one: (selector: string): HTMLElement => document.querySelector(selector) as HTMLElement,
    all: (selector: string): HTMLElement[] => [...document.querySelectorAll(selector)] as HTMLElement[],
  };
}
