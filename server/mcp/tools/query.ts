import { Type } from 'typebox';
import { QUESTION_METRICS } from '../../domain/comparison.ts';
import {
  countsIn,
  DIMENSION_NAMES,
  DIMENSIONS,
  type FactTable,
  isTime,
  QUESTION_TABLES,
  TABLES,
} from '../../model/tables.ts';
import { questionAnswer, questionPreset } from '../../presets/question.ts';
import { parameterOf, project } from '../arguments.ts';
import { quality } from '../quality.ts';
import { ask, type Tool } from '../tool.ts';

const TIMES = DIMENSION_NAMES.filter(isTime);
const NAMES = DIMENSION_NAMES.filter((name) => !isTime(name));

/** The dimensions of a table, and what it counts in place of searches. */
function storedIn(table: FactTable): string {
  const names = TABLES[table].key.flatMap((column) => {
    const of = NAMES.filter((name) => DIMENSIONS[name].column === column);
    return of.toSorted((a, b) => Number(DIMENSIONS[a].of !== undefined) - Number(DIMENSIONS[b].of !== undefined));
  });
  const listed = [names.slice(0, -1).join(', '), names.at(-1)].filter(Boolean).join(' and ');
  const counts = countsIn(table)?.map(({ name }) => name);
  return counts === undefined ? listed : `${listed}, of which ${counts.join(', ')} are counted`;
}

const DESCRIPTION = `Any question that the other tools do not answer, such as clicks by month and country for one page, or the share of the brand by week. The answer is exact; a question that stored data cannot answer exactly is refused, and the error names the nearest questions that it can.

A question is JSON; every part may be left out:
{"range": {"from": DAY, "to": DAY} or {"period": "28d"},
 "metrics": [${QUESTION_METRICS.map((name) => `"${name}"`).join(', ')}],
 "dimensions": [one of ${TIMES.join(', ')}; and of ${NAMES.join(', ')}],
 "filters": [[OPERATOR, DIMENSION, [VALUES]], [OPERATOR, METRIC, [NUMBER]], ["or", FILTER, FILTER], ["not", FILTER]], all of which must hold,
 "sort": ["-clicks"], "limit": 100, "offset": 0, "compare": "previous" or "year"}
Operators: equals; for query, page and keyword also contains, starts_with, ends_with, matches; case is ignored unless {"caseSensitive": true} follows the values. For metrics lt, lte, gt, gte, eq, neq, on the sums of a row; totals are of the rows that match. Countries are usa, deu, …; devices desktop, mobile, tablet; brand is brand or non_brand; groups are named by id.
Stored together: ${QUESTION_TABLES.map(storedIn).join('; ')}; each with time.
remainder is what the property has more than the rows, and why. With aggregation "page" a search counts once for each page: do not add such impressions up to the site.

Examples: {"range": {"period": "3m"}, "dimensions": ["month", "country"], "filters": [["ends_with", "page", ["/pricing"]]]}; {"dimensions": ["week", "brand"], "metrics": ["clicks"]}; {"dimensions": ["query"], "filters": [["contains", "query", ["price"]], ["not", ["contains", "query", ["free"]]], ["gte", "impressions", [500]]], "limit": 20}`;

export const query: Tool = {
  name: 'query',
  title: 'Any question',
  description: DESCRIPTION,
  parameters: {
    project,
    q: {
      ...parameterOf(questionPreset, 'q'),
      schema: Type.Unsafe({ type: 'object', description: 'The question, as the description says.' }),
    },
  },
  required: ['project', 'q'],
  run: async ({ project: id = '', q = '' }, call) => {
    const asked = { q: withDefaults(q) };
    const {
      paging,
      rows,
      quality: known,
      range,
      ...answer
    } = questionAnswer(await ask(questionPreset, id, asked, call));
    return { range, ...quality(range, known), ...answer, total: paging.total, returned: rows.length, rows };
  },
};

/** The most rows without `limit`: agents read all of them. */
const ROWS = 50;

/** A question with what agents get of all tools; what is no object is left to the parser, whose messages say what is wrong. */
function withDefaults(text: string): string {
  try {
    const asked = JSON.parse(text) as unknown;
    const isQuestion = typeof asked === 'object' && asked !== null && !Array.isArray(asked);
    return isQuestion ? JSON.stringify({ limit: ROWS, ...asked, include: { quality: true } }) : text;
  } catch {
    return text;
  }
}
