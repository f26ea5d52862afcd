import { filesOf } from '../catalog/fact-files.ts';
import { isUnknownIn, readKeywordGaps } from '../catalog/keywords.ts';
import type { Project } from '../catalog/projects.ts';
import { pairingOf } from '../domain/compared-days.ts';
import { later } from '../domain/dates.ts';
import { invalidRequest, notFound } from '../domain/errors.ts';
import {
  comparedKeywordRange,
  comparedRange,
  keywordHistoryFrom,
  keywordRange,
  siteRange,
} from '../domain/project-ranges.ts';
import type { Range } from '../domain/range.ts';
import { daySums } from '../facts/days.ts';
import type { DayMeasures } from '../facts/facts.ts';
import { rowsWith } from '../facts/sums.ts';
import type { ColumnName, StoredTable } from '../model/tables.ts';
import { keywordsPreset } from '../presets/keywords.ts';
import { choice, compare, exactText, interval, rangeParameters, readParameters } from '../presets/parameters.ts';
import { askPreset, type PresetRequest, type PresetSources } from '../presets/preset.ts';
import { dailyOf } from './archived-days.ts';

const SUBJECTS = ['brand', 'non_brand', 'query', 'page', 'group'] as const;
const parameters = {
  ...rangeParameters,
  interval,
  compare,
  of: choice('LineSubject', SUBJECTS, 'brand', 'What the line is about.'),
};
const TEXT = { text: exactText('The query or page, or the id of the group.') };

interface LineQuestion {
  readonly project: Project;
  readonly parameters: unknown;
  readonly request: PresetRequest;
}

/**
 * The days of one more line of a chart, over all countries and devices: queries with the brand's name or the others, one
 * query, one page, or the keywords of a group. Days without a row are left out. `comparison` has the days of the compared
 * range by the days of this range that they stand beside; null without one. Throws `not_found` for an unknown group.
 */
export async function readLineDays(sources: PresetSources, question: LineQuestion) {
  const { project } = question;
  const { of, interval: length, compare: other, ...sent } = readParameters(parameters, question.parameters);
  const { text = '' } = readParameters(TEXT, question.parameters);
  const isNamed = of !== 'brand' && of !== 'non_brand';
  if (isNamed && text === '') throw invalidRequest(`text is missing: which ${of} is wanted?`);
  const range = of === 'group' ? keywordRange(sent, project, sources.now()) : siteRange(sent, project, sources.now());
  const read = (days: Range): Promise<DayMeasures[]> => {
    const reader = new LineReader(sources, question, days);
    return isNamed ? reader[of](text) : reader.segment(of);
  };
  const name = of === 'group' ? await new LineReader(sources, question, range).groupName(text) : text;
  const asked = comparedRange(range, other);
  const then = of === 'group' ? comparedKeywordRange(range, other, project, sources.now()) : asked;
  const [days, before] = await Promise.all([read(range), then && read(then)]);
  return {
    of,
    name,
    range,
    daily: dailyOf(days, range, length),
    comparison: asked && dailyOf(before!, range, length, pairingOf(range, asked)),
  };
}

class LineReader {
  readonly #sources: PresetSources;
  readonly #question: LineQuestion;
  readonly #range: Range;

  constructor(sources: PresetSources, question: LineQuestion, { from, to }: Range) {
    this.#sources = sources;
    this.#question = question;
    this.#range = { from, to };
  }

  async segment(segment: 'brand' | 'non_brand'): Promise<DayMeasures[]> {
    return this.#sums('brand_daily', 'segment', [segment]);
  }

  async page(url: string): Promise<DayMeasures[]> {
    return this.#sums('page_daily', 'url', [url]);
  }

  /** The days of the archive; those of the keyword that the plan may read where the query is tracked and not archived. */
  async query(query: string): Promise<DayMeasures[]> {
    const archived = await this.#sums('query_daily', 'query', [query]);
    if (archived.length > 0) return archived;
    const keyword = (await this.#tracked()).idByQuery.get(query.toLowerCase());
    const { from, to } = this.#range;
    const first = later(from, keywordHistoryFrom(this.#question.project, this.#sources.now()));
    if (keyword === undefined || first > to) return [];
    return this.#sums('keyword_all', 'keyword_id', [keyword], { from: first, to });
  }

  /** The keywords that are in the group in these days. A day that is unknown of one of them is left out. */
  async group(id: string): Promise<DayMeasures[]> {
    const sources = this.#sources;
    const { request } = this.#question;
    const asked = { ...this.#range, group: id, format: 'ndjson' };
    const { rows } = await askPreset(keywordsPreset, sources, request, asked);
    const ids = rows.keywords.map((keyword) => keyword.id);
    if (ids.length === 0) return [];
    const gaps = await readKeywordGaps(sources.catalog, this.#question.project.id, this.#range);
    const days = await this.#sums('keyword_all', 'keyword_id', ids);
    if (gaps.size === 0) return days;
    return days.filter(({ date }) => !ids.some((member) => isUnknownIn(gaps, member, { from: date, to: date })));
  }

  async groupName(id: string): Promise<string> {
    const found = (await this.#tracked()).groups.find((group) => group.id === id);
    if (found === undefined) throw notFound('text: the project has no such group or folder.');
    return found.name;
  }

  async #sums(table: StoredTable, column: ColumnName, values: readonly string[], range = this.#range) {
    return daySums(this.#sources.facts, await this.#asked(table, range), { table, test: rowsWith(column, values) });
  }

  async #tracked() {
    const { workspaceId, id } = this.#question.project;
    return (await this.#sources.trackedCache.read(workspaceId, id, async ({ tracked }) => tracked))!;
  }

  async #asked(table: StoredTable, range: Range) {
    const { catalog } = this.#sources;
    const {
      project,
      request: { signal },
    } = this.#question;
    return { files: await filesOf(catalog, project.id, table, range), range, signal };
  }
}
