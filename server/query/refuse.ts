import { KnownError } from '../domain/errors.ts';
import type { Range } from '../domain/range.ts';
import { type Dimension, type FactTable, hasDimension, hasMetric, isTime, QUESTION_TABLES } from '../model/tables.ts';
import { dimensionsOf, type QuestionTest, sentFilter } from './predicate.ts';

/** The parts of a question to replace, so that it can be answered; null for a part to leave out. */
export interface NearestQuestion {
  readonly range?: Range;
  readonly dimensions?: readonly Dimension[];
  readonly metrics?: readonly string[];
  readonly filters?: readonly unknown[] | null;
  readonly sort?: null;
  readonly compare?: null;
}

/** A nearest question, and what it is in words. */
export interface Offer {
  readonly says: string;
  readonly question: NearestQuestion;
}

/** A 400 for a question that cannot be answered exactly; `nearest` of its body has the nearest that can. */
export class RefusedQuestion extends KnownError {
  readonly problem: string;
  readonly offers: readonly Offer[];

  /** @param problem sentences that say what is not known */
  constructor(problem: string, offers: readonly Offer[]) {
    const nearest = offers.map(({ says }) => says).join('; ');
    super('invalid_request', nearest === '' ? problem : `${problem} Nearest questions: ${nearest}.`, {
      details: { nearest: offers.map(({ question }) => question) },
    });
    this.problem = problem;
    this.offers = offers;
  }
}

/** A question as it is sent, with the parts of a nearest one. */
export function withParts(sent: object, parts: NearestQuestion): object {
  return Object.fromEntries(Object.entries({ ...sent, ...parts }).filter(([, part]) => part !== null));
}

/** A 400 for dimensions that are not stored together, those of filters among them. */
export function notTogether(dimensions: readonly Dimension[], filters: readonly QuestionTest[]): RefusedQuestion {
  const used = [...dimensions, ...filters.flatMap(dimensionsOf)];
  const wanted = [...new Set(used.filter((dimension) => !isTime(dimension)))];
  return new RefusedQuestion(
    `dimensions: ${wanted.join(' by ')} is not stored${pairsOf(wanted)}.`,
    nearestTo(wanted).map((names) => ({
      says: names.join(' by '),
      question: questionOf(names, dimensions, filters),
    })),
  );
}

/** A 400 for metrics that are not stored together by the dimensions of a question. @param tables those that have the dimensions */
export function metricsApart(
  metrics: readonly string[],
  tables: readonly FactTable[],
  all: readonly string[],
): RefusedQuestion {
  const sets = tables.map((table) => all.filter((metric) => hasMetric(table, metric)));
  const unlike = [...new Map(sets.map((names) => [names.join(), names])).values()];
  const stored = unlike.map((names) => names.join(', ')).join('; or ');
  return new RefusedQuestion(
    `metrics: ${metrics.join(' and ')} ${metrics.length === 1 ? 'is' : 'are'} not stored by these dimensions together, which have ${stored}.`,
    unlike.map((names) => {
      const kept = metrics.filter((name) => names.includes(name));
      const offered = kept.length === 0 ? names : kept;
      return { says: `metrics ${offered.join(', ')}`, question: { metrics: offered, sort: null } };
    }),
  );
}

/** What is left of a question with some dimensions only. */
function questionOf(
  names: readonly Dimension[],
  dimensions: readonly Dimension[],
  filters: readonly QuestionTest[],
): NearestQuestion {
  const nameOf = (dimension: Dimension): Dimension =>
    dimension === 'query' && !names.includes('query') ? 'keyword' : dimension;
  const isKept = (dimension: Dimension): boolean => isTime(dimension) || names.includes(nameOf(dimension));
  const kept = filters.filter((filter) => dimensionsOf(filter).every(isKept));
  return {
    dimensions: [...new Set(dimensions.filter(isKept).map(nameOf))],
    filters: kept.map((filter) => sentFilter(filter, nameOf)),
    sort: null,
  };
}

/** The first two dimensions that no table has together, if the question has more. */
function pairsOf(wanted: readonly Dimension[]): string {
  if (wanted.length < 3) return '';
  for (const [at, one] of wanted.entries()) {
    for (const other of wanted.slice(at + 1)) {
      const isStored = QUESTION_TABLES.some((table) => hasDimension(table, one) && hasDimension(table, other));
      if (!isStored) return ` (no table has ${one} and ${other})`;
    }
  }
  return '';
}

/** Questions of dimensions that are stored together, with the most wanted ones first. A keyword may stand for a query. */
function nearestTo(wanted: readonly Dimension[]): Dimension[][] {
  const found = QUESTION_TABLES.map((table) => {
    const names = wanted.flatMap((dimension): Dimension[] => {
      if (hasDimension(table, dimension)) return [dimension];
      return dimension === 'query' && hasDimension(table, 'keyword') ? ['keyword'] : [];
    });
    const kept = names.filter((name) => wanted.includes(name)).length;
    return { names: [...new Set(names)], kept };
  });
  const best = found.filter(({ names }) => names.length > 0);
  best.sort((a, b) => b.names.length - a.names.length || b.kept - a.kept);
  const most = best[0]?.names.length ?? 0;
  const texts = new Map(best.filter(({ names }) => names.length >= most).map(({ names }) => [names.join(), names]));
  return [...texts.values()];
}
