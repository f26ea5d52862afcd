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
      (one) => `${(one as unknown as { value: string }).value}:${one.textContent}`,
    );
    return `{${node.getAttribute('aria-label') ?? ''} ${value} of ${options.join('|')}}`;
  }
  if (tag === 'input' || tag === 'textarea') {
    const { value, checked } = node as unknown as { value: string; checked: boolean };
    const invalid = node.getAttribute('aria-invalid') === 'true' ? ' invalid' : '';
    const names = ['type', 'name', 'aria-label', 'placeholder', 'max', 'required'].map((name) => attribute(node, name));
    const filled = /^(?:|on)$/.test(value) ? '' : ` value=${value.replaceAll('\n', '\\n')}`;
    return `[${tag}${names.join('')}${more}${filled}${checked ? ' checked' : ''}${invalid}]`;
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

/** What has a label, its own text or a title. */
function nameOf(node: HTMLElement): string {
  const { labels } = node as unknown as { labels?: readonly HTMLElement[] };
  const [label] = labels ?? [];
  const texts = label && childrenOf(label).filter(({ tagName }) => tagName !== 'SELECT');
  const text = texts?.map((one) => one.textContent).join('') ?? node.textContent;
  return tidy((node.getAttribute('aria-label') ?? (text || node.title)).replaceAll(/\s+/g, ' '));
}

/** What the network does with requests: answers them, loses them, or loses their answers. */
export type Network = 'up' | 'down' | 'lossy';

interface Opened {
  readonly app: World['app'];
  /** Moves with the time of the page. */
  readonly clock?: { at: number };
}

/**
 * The page at an address, in a document without layout: it asks the server of a world, in the session of a cookie, until
 * nothing is left to ask. Time passes only by `pass`.
 *
 * @param kept what the browser has stored
 */
export async function openPage(
  t: Test,
  { app: server, clock = { at: NOW } }: Opened,
  address: string,
  cookie: string,
  kept: Readonly<Record<string, string>> = {},
) {
  bundled ??= bundle();
  const code = await bundled;
  const window = new Window({ url: `http://localhost${address}`, width: 1280, height: 800 });
  t.teardown(() => window.happyDOM.close());
  const { document } = window;
  document.body.innerHTML = '<div id="app"></div>';
  for (const [name, value] of Object.entries(kept)) window.localStorage.setItem(name, value);
  const jar = new Map(cookie.split('; ').map((pair) => pair.split('=') as [string, string]));
  const cookies = (): string => [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
  const requests: string[] = [];
  // Requests that change something, and those that fail, with their statuses.
  const notable: {
    readonly request: string;
    readonly body: string;
    readonly status: number;
    readonly answer: string;
  }[] = [];
  let network: Network = 'up';
  let open = 0;
  const answerOf = async (path: string, init: RequestInit): Promise<Response> => {
    const method = (init.method ?? 'GET') as 'GET';
    requests.push(`${method} ${path}`);
    if (network === 'down') throw new TypeError('There is no network.');
    const headers = {
      ...{ 'sec-fetch-site': 'same-origin', host: 'localhost', cookie: cookies() },
      ...(init.headers as object),
    };
    const answer = await server.inject({
      ...{ method, url: path, headers },
      ...(init.body ? { payload: init.body as string } : {}),
    });
    const { statusCode: status } = answer;
    for (const { name, value } of answer.cookies) jar.set(name, value);
    if (method !== 'GET' || status >= 400)
      notable.push({ request: `${method} ${path}`, body: (init.body ?? '') as string, status, answer: answer.body });
    if (network === 'lossy') throw new TypeError('The answer is lost.');
    return new Response(status === 204 ? null : answer.body, {
      status,
      headers: answer.headers as Record<string, string>,
    });
  };
  const fetch = async (path: string, init: RequestInit = {}): Promise<Response> => {
    open += 1;
    try {
      return await answerOf(path, init);
    } finally {
      open -= 1;
    }
  };
  let timers: Timer[] = [];
  let last = 0;
  const setTimeout = (work: () => void, wait = 0): number => {
    last += 1;
    if (wait === 0) setImmediate(work);
    else timers.push({ id: last, at: clock.at + wait, work });
    return last;
  };
  const clearTimeout = (id: number): void => {
    timers = timers.filter((timer) => timer.id !== id);
  };
  const copied: string[] = [];
  // Files that the page saves.
  const saved: Blob[] = [];
  const left: string[] = [];
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
    // Everything is in view.
    IntersectionObserver: class {
      readonly observe: () => void;
      constructor(seen: (entries: readonly { isIntersecting: boolean }[]) => void) {
        this.observe = () => void setImmediate(() => seen([{ isIntersecting: true }]));
      }
      readonly disconnect = (): void => undefined;
    },
    ...{ Event: window.Event, CustomEvent: window.CustomEvent, KeyboardEvent: window.KeyboardEvent },
    ...{ HTMLElement: window.HTMLElement, Node: window.Node, PointerEvent: window.PointerEvent },
    Date: class extends Date {
      constructor(...given: [] | [number | string]) {
        if (given.length === 0) super(clock.at);
        else super(given[0]);
      }
      static override now = (): number => clock.at;
    },
  };
  window.location.assign = (url: string): void => void left.push(url);
  const settle = async (): Promise<void> => {
    for (let quiet = 0; quiet < QUIET; quiet = open > 0 ? 0 : quiet + 1) await nextTurn();
  };
  compileFunction(code, Object.keys(browser))(...Object.values(browser));
  await settle();
  const app = document.querySelector('#app')!;
  /** The smallest part of the page with a label, a text or a class (`.notice`). */
  const partOf = (name: string): HTMLElement => {
    const labelled = document.querySelector(name.startsWith('.') ? name : `[aria-label="${name}"]`);
    const having = [...document.querySelectorAll('tr, li, article, form, fieldset, section')]
      .filter((one) => one.textContent.includes(name))
      .sort((a, b) => a.textContent.length - b.textContent.length);
    const found = labelled ?? having[0];
    if (found === undefined) throw new Error(`The page has no ${name}`);
    return found as unknown as HTMLElement;
  };
  /** The first element that has a name, or begins with it. */
  const find = (selector: string, name: string, part?: string): HTMLElement => {
    const within = part === undefined ? document : partOf(part);
    const all = [...within.querySelectorAll(selector)] as unknown as HTMLElement[];
    const found = all.find((one) => nameOf(one) === name) ?? all.find((one) => nameOf(one).startsWith(name));
    if (found === undefined) throw new Error(`There is no '${name}' among ${all.map(nameOf).join(' | ')}`);
    return found;
  };
  const fire = (node: HTMLElement, ...types: readonly string[]): void => {
    for (const type of types) node.dispatchEvent(new window.Event(type, { bubbles: true }));
  };
  return {
    ...{ requests, notable, copied, saved, left, cookies, storage: window.localStorage },
    /** What the reader sees, without the frame around the screen, or a part of all. */
    outline: (part?: string) =>
      outlineOf(part === undefined ? ((document.querySelector('main') ?? app) as HTMLElement) : partOf(part)).join(
        '\n',
      ),
    /** What the canvas shows since it was cleared last. */
    drawn: () => [...document.querySelectorAll('canvas')].flatMap((canvas) => drawingOf(drawnOn.get(canvas) ?? [])),
    address: () => window.location.pathname + window.location.search,
    close: () => window.happyDOM.close(),
    setNetwork: (state: Network): void => {
      network = state;
    },
    /** Lets time pass, in milliseconds. */
    pass: async (milliseconds: number) => {
      clock.at += milliseconds;
      const due = timers.filter(({ at }) => at <= clock.at);
      timers = timers.filter(({ at }) => at > clock.at);
      for (const { work } of due) work();
      await settle();
    },
    /** Presses what has a name, several times before the page can draw. Returns the address of a link that leads away. */
    press: async (name: string, part?: string, times = 1): Promise<string | undefined> => {
      const found = find('button, a, summary, input[type=checkbox], input[type=radio]', name, part);
      const href = found.getAttribute('href');
      if (href !== null && (found.hasAttribute('download') || !/^\/(?:app(?!\/api)|share)/.test(href))) return href;
      for (let time = 0; time < times; time++) {
        if (href === null) found.click();
        else found.dispatchEvent(new window.MouseEvent('click', { bubbles: true, cancelable: true }));
      }
      await settle();
      return undefined;
    },
    /** Types into the field with a label, and leaves it. */
    type: async (label: string, text: string, part?: string) => {
      const field = find('input, textarea', label, part) as unknown as { value: string } & HTMLElement;
      field.value = text;
      fire(field, 'input', 'change');
      // People leave a field after the page has drawn what they typed.
      await settle();
      fire(field, 'blur');
      await settle();
    },
    /** Chooses what has a text, or a value. */
    choose: async (label: string, text: string, part?: string) => {
      const field = find('select', label, part) as unknown as { value: string } & HTMLElement;
      const options = [...field.querySelectorAll('option')];
      const option = options.find((one) => one.textContent === text) ?? options.find((one) => one.value === text);
      if (option === undefined) throw new Error(`${label} has no '${text}'`);
      field.value = option.value;
      fire(field, 'input', 'change');
      await settle();
    },
  };
}
