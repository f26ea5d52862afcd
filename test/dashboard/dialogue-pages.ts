import type { Test } from 'tap';
import { type Network, openPage } from './page-of.ts';
import type { makeTeam, Who } from './team.ts';

/** After each action: longer than the page waits for the next letter, in milliseconds. */
const PAUSE = 1000;
/** A line with nothing to read. */
const EMPTY = /^[-+ ]*\w+(?:\.[\w-]+)*$/;

/** Lines with something to read that are gone and that are new, in the order of the page. */
function changesOf(before: readonly string[], after: readonly string[]): string[] {
  // How many lines of the rest of both are the same.
  const same = Array.from({ length: before.length + 1 }, () => new Array<number>(after.length + 1).fill(0));
  for (let i = before.length - 1; i >= 0; i--)
    for (let j = after.length - 1; j >= 0; j--)
      same[i]![j] = before[i] === after[j] ? same[i + 1]![j + 1]! + 1 : Math.max(same[i + 1]![j]!, same[i]![j + 1]!);
  const changes: string[] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    if (i < before.length && before[i] === after[j]) [i, j] = [i + 1, j + 1];
    else if (j >= after.length || (i < before.length && same[i + 1]![j]! >= same[i]![j + 1]!))
      changes.push(`- ${before[i++]!.trim()}`);
    else changes.push(`+ ${after[j++]!.trim()}`);
  }
  return shortened(changes.filter((change) => !EMPTY.test(change)));
}

/** Of many lines that are taken away, which were shown before, only the first. */
function shortened(changes: readonly string[]): string[] {
  const kept: string[] = [];
  for (let at = 0; at < changes.length; at++) {
    kept.push(changes[at]!);
    let end = at;
    while (changes[end + 1]?.startsWith('- ')) end += 1;
    if (changes[at]!.startsWith('+ ') || end - at < 3) continue;
    kept.push(`- … ${end - at} more`);
    at = end;
  }
  return kept;
}

/** A line of fields without what was filled in. */
const withoutValues = (line: string): string =>
  line.replaceAll(/ value=[^\]]*(?=\])| checked(?= invalid\]|\])|(?<=\{[\w ]+) [^{} ]*(?= of )/g, '');

type Page = Awaited<ReturnType<typeof openPage>>;

/** Names instead of what chance makes, and back. */
interface Names {
  readonly hide: (text: string, kind: string) => string;
  readonly put: (text: string) => string;
}

/** A page with what it showed and sent last. */
interface Opened {
  readonly page: Page;
  readonly shown: readonly string[];
  readonly address: string;
  readonly notable: number;
}

/** What people do on their pages, and what comes of it. */
export class Pages {
  readonly #t: Test;
  readonly #team: Awaited<ReturnType<typeof makeTeam>>;
  readonly #names: Names;
  readonly #opened = new Map<string, Opened>();
  /** Choices of fields, which are shown where they stand first. */
  readonly #choices = new Set<string>();

  constructor(t: Test, team: Awaited<ReturnType<typeof makeTeam>>, names: Names) {
    this.#t = t;
    this.#team = team;
    this.#names = names;
  }

  /** What a line leads to; undefined if it is about no page. */
  async say(line: string): Promise<string[] | undefined> {
    const [, who = '', act = '', rest = ''] =
      /^(\w+)(?:'s)? (opens|presses|ticks|types|chooses|sees|keeps|network is) ?(.*)$/.exec(line) ?? [];
    if (act === '') return undefined;
    const told = await this.#act(who, act, this.#names.put(rest));
    return told.flatMap((one) => one.split('\n')).map((one) => `  ${this.#once(one)}`);
  }

  async #act(who: string, act: string, rest: string): Promise<string[]> {
    if (act === 'opens') return this.#open(who, rest);
    const known = this.#opened.get(who);
    if (known === undefined) throw new Error(`${who} has opened no page`);
    const { page } = known;
    if (act === 'network is') {
      page.setNetwork(rest as Network);
      return [];
    }
    if (act === 'keeps') return Object.entries(page.storage).map((one) => this.#names.hide(one.join(': '), 'id'));
    if (act === 'sees') {
      const lines = this.#shown(page, rest === 'the screen' ? undefined : rest);
      return lines.filter((line) => !EMPTY.test(line));
    }
    const [, what = '', part, twice] = /^(.*?)(?: in ([^:]+?))?( twice)?$/.exec(rest)!;
    const [, label = '', text = ''] = /^([^:]*): ?(.*)$/.exec(what) ?? [];
    const told: string[] = [];
    if (act === 'types') await page.type(label, text.replaceAll('\\n', '\n'), part);
    else if (act === 'chooses') await page.choose(label, text, part);
    else if (act === 'ticks') await page.press(what, part);
    else {
      const away = await page.press(what, part, twice === undefined ? 1 : 2);
      if (away !== undefined) told.push(...(await this.#follow(page, away)));
    }
    await page.pass(PAUSE);
    return [...told, ...this.#changes(who, known, act !== 'presses')];
  }

  async #open(who: string, address: string): Promise<string[]> {
    const before = this.#opened.get(who)?.page;
    const cookie = before?.cookies() ?? this.#team.cookies.get(who as Who) ?? '';
    const kept = before === undefined ? {} : Object.fromEntries(Object.entries(before.storage));
    const page = await openPage(this.#t, this.#team, address, cookie, kept);
    await before?.close();
    return this.#changes(who, { page, shown: this.#shown(page), address, notable: 0 });
  }

  /** What a link that leads away leads to: files of the server have their lines. */
  async #follow(page: Page, href: string): Promise<string[]> {
    if (!href.startsWith('/')) return [`@ ${href}`];
    const headers = { 'sec-fetch-site': 'same-origin', host: 'localhost', cookie: page.cookies() };
    const answer = await this.#team.app.inject({ url: href, headers });
    const lines = answer.body.trimEnd().split('\r\n');
    return [`@ ${href} ${answer.statusCode} ${String(answer.headers['content-disposition'])}`, ...lines];
  }

  /** The lines of an outline, whose links say `?…` for the view of the page. */
  #shown(page: Page, part?: string): string[] {
    const view = page.address().split('?')[1]?.split('&') ?? [''];
    const links = /\?([^\s)}]+?)((?:\.[a-z-]+)*)(?=[\s)}])/g;
    const text = page.outline(part).replaceAll(links, (all, query: string, classes: string) => {
      const pairs = query.split('&');
      const more = pairs.filter((pair) => !view.includes(pair));
      return view.every((pair) => pairs.includes(pair)) ? `?${['…', ...more].join('&')}${classes}` : all;
    });
    // Commands have the time of the machine.
    const today = new Date().toLocaleDateString('en-US', { dateStyle: 'medium', timeZone: 'UTC' });
    const now = new RegExp(`${today}, \\d+:\\d\\d [AP]M`, 'g');
    return this.#names.hide(text.replaceAll(now, 'just now'), 'id').split('\n');
  }

  #once(line: string): string {
    return line.replaceAll(/ of ([^{} ]*:[^{}]*)\}/g, (all, list: string) => {
      if (line.startsWith('- ') || this.#choices.has(list)) return '}';
      this.#choices.add(list);
      return all;
    });
  }

  /**
   * What a page has sent, where it is, and what it shows since it was looked at.
   *
   * @param isField whether a field was filled in: what it says itself is known
   */
  #changes(who: string, { page, ...before }: Opened, isField = false): string[] {
    const asked = page.notable.slice(before.notable).map(({ request, body, status, answer }) => {
      const kind = /\/api\/(?:projects\/\w+\/)?([a-z-]+?)s?(?=[/?]|$)/.exec(request)?.[1] ?? 'id';
      this.#names.hide(answer, kind);
      return `> ${[this.#names.hide(`${request} ${body}`, kind).trim(), ...(status < 300 ? [] : [status])].join(' ')}`;
    });
    // A screen asks again for what was refused before it was drawn, which depends on what comes first.
    const told = asked.filter((line, at) => !line.startsWith('> GET') || line !== asked[at - 1]);
    for (const text of page.copied.splice(0)) told.push(`copied: ${this.#names.hide(text, 'id')}`);
    for (const left of page.left.splice(0)) told.push(`@ ${this.#names.hide(left, 'id')}`);
    const [address, shown] = [page.address(), this.#shown(page)];
    if (address !== before.address)
      told.push(`@ ${this.#names.hide(decodeURIComponent(address.replaceAll('%0A', '%250A')), 'id')}`);
    const lines = [before.shown, shown].map((all) => (isField ? all.map(withoutValues) : all));
    // Other screens are in `screens.txt`.
    if (address.split('?')[0] === before.address.split('?')[0]) told.push(...changesOf(lines[0]!, lines[1]!));
    this.#opened.set(who, { page, shown, address, notable: page.notable.length });
    return told;
  }
}
