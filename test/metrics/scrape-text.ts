import { type Running, until } from '../process.ts';

/** A sample of a scrape: the name and labels of its series, and its value. */
interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

interface Family {
  readonly type: string;
  readonly help: string;
  readonly samples: Sample[];
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/;
const VALUE = /^(?:[-+]?(?:\d+(?:\.\d+)?(?:e[-+]?\d+)?|Inf)|Nan|NaN)$/;
const TYPES = ['counter', 'gauge', 'histogram'];

/**
 * Parses the text format of Prometheus 0.0.4, strictly: each family has one HELP and one TYPE before its samples, samples of a
 * family are adjacent, no series is there twice, and histograms are whole. Throws with the line that is wrong.
 */
export function parseScrape(text: string): Map<string, Family> {
  if (!text.endsWith('\n')) throw new Error('the last line has no end');
  const families = new Map<string, Family>();
  const seen = new Set<string>();
  let help: { name: string; text: string } | undefined;
  let current: { name: string; family: Family } | undefined;
  for (const line of text.slice(0, -1).split('\n')) {
    if (line === '') continue;
    const [, keyword, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? [];
    if (keyword === 'HELP') {
      if (!NAME.test(name) || families.has(name) || help !== undefined) throw new Error(`wrong HELP: ${line}`);
      help = { name, text: rest };
    } else if (keyword === 'TYPE') {
      if (help?.name !== name || !TYPES.includes(rest)) throw new Error(`wrong TYPE: ${line}`);
      if (rest === 'counter' && !name.endsWith('_total')) throw new Error(`a counter must end in _total: ${line}`);
      if (rest !== 'counter' && name.endsWith('_total')) throw new Error(`only a counter ends in _total: ${line}`);
      current = { name, family: { type: rest, help: help.text, samples: [] } };
      families.set(name, current.family);
      help = undefined;
    } else {
      const sample = readSample(line);
      if (current === undefined || familyOf(sample.name, current.family.type) !== current.name) {
        throw new Error(`a sample outside of its family: ${line}`);
      }
      const series = `${sample.name} ${labelsKey(sample.labels)}`;
      if (seen.has(series)) throw new Error(`a series twice: ${line}`);
      seen.add(series);
      current.family.samples.push(sample);
    }
  }
  for (const [name, { type, samples }] of families) if (type === 'histogram') checkHistogram(name, samples);
  return families;
}

function familyOf(name: string, type: string): string {
  return type === 'histogram' ? name.replace(/_(?:bucket|sum|count)$/, '') : name;
}

function labelsKey(labels: Sample['labels']): string {
  const texts = Object.entries(labels).map((entry) => JSON.stringify(entry));
  return texts.sort().join(' ');
}

function readSample(line: string): Sample {
  const [, name, labelled = '', value = ''] = SAMPLE.exec(line) ?? [];
  if (name === undefined || !VALUE.test(value)) throw new Error(`not a sample: ${line}`);
  const labels: Record<string, string> = {};
  for (let rest = labelled; rest !== ''; ) {
    const [whole = '', label = '', quoted = ''] = LABEL.exec(rest) ?? [];
    if (whole === '' || label in labels) throw new Error(`wrong labels: ${line}`);
    labels[label] = quoted.replaceAll(/\\(.)/g, (_, one: string) => (one === 'n' ? '\n' : one));
    rest = rest.slice(whole.length);
  }
  return { name, labels, value: value.endsWith('Inf') ? Number(value.replace('Inf', 'Infinity')) : Number(value) };
}

/** Buckets grow up to that of all, which equals the count. */
function checkHistogram(name: string, samples: readonly Sample[]): void {
  const key = (labels: Sample['labels']): string => labelsKey({ ...labels, le: '' });
  const of = (suffix: string): Sample[] => samples.filter((sample) => sample.name === name + suffix);
  for (const count of of('_count')) {
    const buckets = of('_bucket').filter(({ labels }) => key(labels) === key(count.labels));
    const values = buckets.map(({ value }) => value);
    const bounds = buckets.map(({ labels }) => Number(labels['le']?.replace('+Inf', 'Infinity')));
    const isSorted = bounds.every((bound, index) => index === 0 || bound > bounds[index - 1]!);
    const isGrowing = values.every((value, index) => index === 0 || value >= values[index - 1]!);
    const isWhole = bounds.at(-1) === Number.POSITIVE_INFINITY && values.at(-1) === count.value;
    const hasSum = of('_sum').some(({ labels }) => key(labels) === key(count.labels));
    if (!isSorted || !isGrowing || !isWhole || !hasSum)
      throw new Error(`a broken histogram: ${name} ${key(count.labels)}`);
  }
}

/** The values of a metric by its labels that are not in `labels`, joined, for the series that have these labels. */
export function valuesOf(
  text: string,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Record<string, number> {
  const samples = [...parseScrape(text).values()].flatMap((family) => family.samples);
  const found = samples.filter(
    (sample) =>
      sample.name === name && Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
  );
  return Object.fromEntries(
    found.map((sample) => [
      Object.entries(sample.labels)
        .filter(([label]) => !(label in labels))
        .map(([, value]) => value)
        .join(' '),
      sample.value,
    ]),
  );
}

/** Returns what scrapes a process that serves metrics on a port, once it says where. */
export async function metricsOf({ printed }: Running): Promise<(path?: string) => Promise<string>> {
  const address = await until('the address of metrics', () => /"address":"(http:[^"]+)"/.exec(printed.stderr)?.[1]);
  // A kept connection may be closed by the server just when a busy machine uses it again.
  return async (path = '') => {
    const response = await fetch(address + path, { headers: { connection: 'close' } });
    if (response.status !== 200) throw new Error(`${address} was answered with ${response.status}`);
    return response.text();
  };
}
