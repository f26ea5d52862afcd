import type { Catalog } from '../catalog/catalog.ts';
import { connectionsOf } from '../catalog/connections.ts';
import { type FactFile, filesOf, isLoaded, manifestOf, readCoverage } from '../catalog/fact-files.ts';
import { listKeywords } from '../catalog/keywords.ts';
import type { Project } from '../catalog/projects.ts';
import type { ListKind, ListPair } from '../catalog/stored-lists.ts';
import { invalidRequest, type KnownError, unavailable } from '../domain/errors.ts';
import { EVERY_DAY, type Range } from '../domain/range.ts';
import type { Engine } from '../facts/duckdb/engine.ts';
import { isOtherEngine, type OtherEngine, SURFACES, type Surface } from '../model/surfaces.ts';
import { countryTable, type FactTable, weekTable } from '../model/tables.ts';
import type { Providers } from '../providers/providers.ts';
import { PROVIDERS } from '../providers/registry.ts';
import { KeywordPages } from './keyword-pages.ts';
import { OwnFacts } from './own-facts.ts';
import type { OwnRows } from './own-rows.ts';
import { PeriodList } from './period-list.ts';
import { hasLists, providerList } from './provider-list.ts';
import type { Source } from './source.ts';

export interface SourcesOptions {
  readonly engine: Engine;
  readonly catalog: Catalog;
  /** The stored facts. */
  readonly rows: OwnRows;
  readonly providers: Providers;
}

/** The possible sources of a list. */
export interface Choice {
  /** Identifies the data behind the list; stored lists with another key are outdated. */
  readonly sourceKey: string;
  /** In order of preference. Empty if nothing is stored for the range. */
  readonly sources: readonly Source[];
  /** Whether the list comes from a provider. */
  readonly fromProvider: boolean;
  readonly hasCountries: boolean;
  /** The revision of the keywords that name the rows; null if none do. */
  readonly namesRevision: number | null;
}

/** A list, for the choice of its sources. */
interface Wanted {
  readonly kind: ListKind;
  readonly range: Range;
  readonly type: Surface;
  readonly pair: ListPair | null;
  /** The parameters that give the range. */
  readonly named?: string;
}

const TABLE: Record<ListKind, FactTable> = { pages: 'page_daily', queries: 'query_daily' };
const PERIOD_TABLE: Record<ListKind, FactTable> = { pages: 'page_period', queries: 'query_period' };

/** In order of preference: a warehouse has all rows, others only the top rows. */
const PREFERRED = PROVIDERS.filter(hasLists).toSorted(
  (a, b) => Number(b.lists.isWarehouse) - Number(a.lists.isWarehouse),
);

/**
 * Chooses the sources of lists: a warehouse, then the reporting API, else the project's stored facts: by day, or a list of
 * exactly the range.
 */
export class Sources {
  readonly #options: SourcesOptions;

  constructor(options: SourcesOptions) {
    this.#options = options;
  }

  /**
   * Pairs of queries and pages are stored of tracked keywords only. Throws `unavailable` for a project without a source, and `invalid_request` if it has lists of other ranges only.
   * @param catalog the snapshot from which the project was read
   */
  async choose(
    project: Project,
    { kind, range, type, pair, named = 'from and to' }: Wanted,
    catalog: Catalog = this.#options.catalog,
  ): Promise<Choice> {
    if (isOtherEngine(type) && pair === null) return this.#weeks(project, { kind, range, type }, catalog);
    // In parallel, to wait only once for a remote database.
    const [connections, periods, isKnown, facts] = await Promise.all([
      connectionsOf(catalog, project.id),
      manifestOf(catalog, project.id, PERIOD_TABLE[kind], EVERY_DAY),
      isLoaded(catalog, project.id, TABLE[kind]),
      this.#facts(project, kind, range, catalog),
    ]);
    const connected = PREFERRED.flatMap((provider) =>
      provider.lists.types.includes(type)
        ? connections.filter((each) => each.kind === provider.kind).map((connection) => ({ provider, connection }))
        : [],
    );
    if (connected.length === 0 && type !== 'web') {
      throw unavailable(
        `There is no source of ${kind} of ${isOtherEngine(type) ? `${SURFACES[type].label} by query or page` : `type ${type}`}: stored ${kind} are of web, and the project is connected to no provider with others.`,
        'list-without-source',
      );
    }
    if (connected.length === 0) {
      if (pair !== null) return this.#pairs(project, { kind, range, type, pair }, catalog);
      const loaded = { sourceKey: `facts ${project.factsRevision}`, fromProvider: false, namesRevision: null };
      const exact = periods.find(({ firstDay, lastDay }) => firstDay === range.from && lastDay === range.to);
      // Days have more detail than their sum: each country, and each query or page beyond the top ones.
      if (exact !== undefined && !(await this.#isLoaded(project, kind, range, catalog))) {
        const sources = [new PeriodList(this.#options.rows, exact)];
        return { ...loaded, sources, hasCountries: false };
      }
      // Facts that were never loaded are unknown, not empty.
      if (!isKnown) {
        if (periods.length > 0) throw otherPeriod(kind, range, named, periods);
        throw unavailable(
          `There is no source of ${kind}: the project is connected to no provider and has no loaded ${kind}.`,
          'list-without-source',
        );
      }
      return { ...loaded, sources: facts, hasCountries: true };
    }
    const sources: Source[] = connected.map(({ provider, connection }) =>
      providerList(provider, connection, this.#options),
    );
    // A warehouse starts on the day that the export was enabled; loaded facts may go further back.
    const areWarehouses = connected.every(({ provider }) => provider.lists.isWarehouse);
    if (pair === null && type === 'web' && areWarehouses && (await this.#isLoaded(project, kind, range, catalog)))
      sources.push(...facts);
    return {
      sourceKey: `property ${project.property}`,
      sources,
      fromProvider: true,
      hasCountries: countryTable(type) !== undefined,
      namesRevision: null,
    };
  }

  async #pairs(
    { id, factsRevision, entitiesRevision }: Project,
    { kind, range, pair }: Wanted & { readonly pair: ListPair },
    catalog: Catalog,
  ): Promise<Choice> {
    const [isKnown, files, keywords] = await Promise.all([
      isLoaded(catalog, id, 'keyword_page_daily'),
      filesOf(catalog, id, 'keyword_page_daily', range),
      listKeywords(catalog, id),
    ]);
    const source = new KeywordPages(this.#options.rows, files, keywords);
    if (!isKnown || (kind === 'pages' && source.idsOf(pair.of).length === 0)) {
      throw unavailable(
        'The project is connected to no provider, and pairs of queries and pages are stored of tracked keywords only.',
        'list-without-source',
      );
    }
    return {
      sourceKey: `facts ${factsRevision}`,
      sources: [source],
      fromProvider: false,
      hasCountries: false,
      namesRevision: entitiesRevision,
    };
  }

  /** Weeks of other engines are stored by the sync: their APIs are not asked for whole lists. */
  async #weeks(
    { id, factsRevision }: Project,
    { kind, range, type }: Pick<Wanted, 'kind' | 'range'> & { readonly type: OtherEngine },
    catalog: Catalog,
  ): Promise<Choice> {
    const files = await filesOf(catalog, id, weekTable(type, kind)!, range);
    return {
      sourceKey: `facts ${factsRevision}`,
      sources: files.length === 0 ? [] : [new OwnFacts(this.#options.rows, files, type)],
      fromProvider: false,
      hasCountries: false,
      namesRevision: null,
    };
  }

  async #isLoaded({ id }: Project, kind: ListKind, range: Range, catalog: Catalog): Promise<boolean> {
    const days = (await readCoverage(catalog, id))[TABLE[kind]];
    return days !== undefined && days.firstDay <= range.from && days.lastDay >= range.to;
  }

  async #facts({ id }: Project, kind: ListKind, range: Range, catalog: Catalog): Promise<OwnFacts[]> {
    const stored = await filesOf(catalog, id, TABLE[kind], range);
    return stored.length === 0 ? [] : [new OwnFacts(this.#options.rows, stored)];
  }
}

/** The most periods that an error names. */
const MAX_NAMED = 12;

function otherPeriod(
  kind: ListKind,
  { from, to }: Range,
  parameters: string,
  periods: readonly FactFile[],
): KnownError {
  const named = periods.slice(-MAX_NAMED).map(({ firstDay, lastDay }) => `${firstDay} to ${lastDay}`);
  return invalidRequest(
    `${parameters} must be the days of a stored list, not ${from} to ${to}: the single days of ${kind} are unknown. Stored: ${named.join(', ')}.`,
  );
}
