import { apiPath, useResource } from '../lib/api.ts';
import { formatAgo, formatInstant, formatRange } from '../lib/dates.ts';
import { joinFilters } from '../lib/filter.ts';
import { plural } from '../lib/format.ts';
import { BANDS, bandFilter } from '../lib/positions.ts';
import type { ListAnswer, PageRow, Project, QueryRow } from '../lib/types.ts';
import { useAsk } from '../lib/use-project.ts';
import { compareParameter, rangeParameters, surfaceParameters, useView, type View } from '../lib/view.ts';
import { Select } from '../parts/controls.tsx';
import { CopyButton } from '../parts/copy.tsx';
import { ListHead, type MetricRow, MetricTable, PAGE_SIZE, Pager } from '../parts/data-table.tsx';
import { FilterBar, useFilter } from '../parts/filter-bar.tsx';
import { ChangeTabs, moversOf } from '../parts/movers.tsx';
import { CompareSelect, PeriodSelect } from '../parts/period.tsx';
import { ProjectScreen } from '../parts/project-screen.tsx';
import { RowLink } from '../parts/row-link.tsx';
import { Empty, ErrorBox } from '../parts/states.tsx';
import { shortUrl } from '../parts/top-rows.tsx';

export function Queries() {
  return <ListScreen kind="queries" />;
}

export function Pages() {
  return <ListScreen kind="pages" />;
}

const BRANDED: Readonly<Record<string, string>> = { yes: 'branded:eq:true', no: 'branded:eq:false' };

/** All queries or pages of the property, a page of the list at a time. */
function ListScreen({ kind }: { kind: 'queries' | 'pages' }) {
  const view = useView();
  const field = kind === 'queries' ? 'query' : 'url';
  const movers = moversOf(view);
  const branded = kind === 'queries' ? (BRANDED[view.get('branded')] ?? '') : '';
  const filter = joinFilters(useFilter(field), branded, bandFilter(view.get('positions')));
  const listFor = (id: string, project: Project | undefined) => ({
    path: `/projects/${id}/${movers === undefined ? kind : 'movers'}`,
    parameters: {
      ...rangeParameters(view, project),
      ...(movers === undefined && surfaceParameters(view.type)),
      country: view.country,
      filter,
      compare: compareParameter(view, project),
      ...(movers === undefined ? { sort: view.get('sort') } : { kind, ...movers }),
    },
  });
  useAsk(view, (id, project) => {
    const list = listFor(id, project);
    return [list.parameters.compare === undefined ? null : listPath(list, view)];
  });
  return (
    <ProjectScreen
      title={kind === 'queries' ? 'Queries' : 'Pages'}
      controls={(project) => (
        <>
          <PeriodSelect project={project} />
          <CompareSelect project={project} />
          {kind === 'queries' && (
            <Select
              label="Brand"
              value={view.get('branded')}
              options={[
                ['', 'All queries'],
                ['yes', 'Branded'],
                ['no', 'Not branded'],
              ]}
              onChange={(branded) => view.change({ branded: branded || null, offset: null })}
            />
          )}
          {movers === undefined && <CopyList {...listFor(project.id, project)} />}
        </>
      )}
    >
      {(project) => (
        <>
          <FilterBar
            field={field}
            by={movers === undefined ? ['country', 'type'] : ['country']}
            placeholder={kind === 'queries' ? 'Search queries   /' : 'Search pages   /'}
          >
            <ChangeTabs label={kind === 'queries' ? 'Queries by change' : 'Pages by change'} />
            <Select
              label="Position"
              value={view.get('positions')}
              options={[['', 'Any position'], ...BANDS.map(([name, text]) => [name, `Position ${text}`] as const)]}
              onChange={(positions) => view.change({ positions: positions || null, offset: null })}
            />
          </FilterBar>
          <List project={project} kind={kind} {...listFor(project.id, project)} isByChange={movers !== undefined} />
        </>
      )}
    </ProjectScreen>
  );
}

type Parameters = Readonly<Record<string, string | null | undefined>>;

interface ListProps {
  readonly project: Project;
  readonly kind: 'queries' | 'pages';
  /** What answers the list. */
  readonly path: string;
  readonly parameters: Parameters;
  /** Whether its rows are those that changed in one way, the greatest change first. */
  readonly isByChange?: boolean;
}

function CopyList({ path, parameters }: Pick<ListProps, 'path' | 'parameters'>) {
  const view = useView();
  return <CopyButton path={path} parameters={{ ...parameters, limit: PAGE_SIZE, offset: view.get('offset') }} />;
}

function listPath({ path, parameters }: Pick<ListProps, 'path' | 'parameters'>, view: View): string {
  return apiPath(path, { ...parameters, limit: PAGE_SIZE, offset: view.get('offset') });
}

/** A page of a list. */
export function List({ project, kind, path, parameters, isByChange = false }: ListProps) {
  const view = useView();
  const { data, error, isLoading, reload } = useResource<ListAnswer>(listPath({ path, parameters }, view));
  const rows = data && [
    ...(data.queries ?? []).map((row) => queryRow(row, project)),
    ...(data.pages ?? []).map((row) => pageRow(row, project)),
  ];
  const isFiltered = parameters['filter'] !== '';
  return (
    <>
      {error && <ErrorBox error={error} retry={reload} />}
      {data && (
        <ListHead csv={apiPath(`${path}.csv`, parameters)}>
          {kind === 'queries' ? plural(data.paging.total, 'query', 'queries') : plural(data.paging.total, 'page')}
          {data.source.kind === 'keywords' && ', of tracked keywords only: the project is connected to no provider'}
          {data.source.truncated && ', the most that the search engine returns'}
          {data.range.grain === 'week' &&
            `, weeks of ${formatRange(data.range)}${data.source.reconciled === false ? ', which do not add up to the days of the site' : ''}`}
          {data.isCut && '. The search engine cut off one of the two lists: some of these rows may be in both'}
          <span title={formatInstant(data.source.fetchedAt)}>, fetched {formatAgo(data.source.fetchedAt)}</span>
        </ListHead>
      )}
      {rows?.length === 0 && data?.paging.total === 0 ? (
        <Empty title={emptyTitle(kind, isFiltered, isByChange)}>
          {isFiltered && (
            <a href={view.with({ filter: null, search: null, branded: null, positions: null, offset: null })}>
              Remove all filters
            </a>
          )}
          {isByChange && !isFiltered && <a href={view.with({ change: null, offset: null })}>Show all {kind}</a>}
        </Empty>
      ) : (
        (rows !== undefined || error === undefined) && (
          <MetricTable
            label={kind === 'queries' ? 'Queries' : 'Pages'}
            nameHeading={kind === 'queries' ? 'Query' : 'Page'}
            nameField={kind === 'queries' ? 'query' : 'url'}
            rows={rows}
            isStale={isLoading}
            defaultSort="-clicks"
            isByChange={isByChange}
          />
        )
      )}
      {data && <Pager paging={data.paging} />}
    </>
  );
}

function emptyTitle(kind: string, isFiltered: boolean, isByChange: boolean): string {
  if (isFiltered) return 'Nothing matches these filters';
  return isByChange ? `No ${kind} changed in this way` : `No ${kind} in this period`;
}

function queryRow(row: QueryRow, project: Project): MetricRow {
  return { key: row.query, metrics: row, name: <QueryName row={row} project={project} /> };
}

function QueryName({ row, project }: { row: QueryRow; project: Project }) {
  const { query, branded, trackedKeywordId } = row;
  return (
    <span class="row-name">
      <RowLink project={project} kind="queries" text={query} keywordId={trackedKeywordId} class="text">
        {query}
      </RowLink>
      {branded && <span class="pill">brand</span>}
    </span>
  );
}

function pageRow(row: PageRow, project: Project): MetricRow {
  return { key: row.url, metrics: row, name: <PageName url={row.url} project={project} /> };
}

/** Only addresses of the web are links out: what a snapshot has may be anything. */
export function PageName({ url, project }: { url: string; project: Project }) {
  const isWeb = /^https?:\/\//i.test(url);
  return (
    <span class="row-name">
      <RowLink project={project} kind="pages" text={url} class="text">
        {shortUrl(url, project.domain)}
      </RowLink>
      {isWeb && (
        <a class="out" href={url} target="_blank" rel="noopener noreferrer" title="Open the page">
          ↗<span class="sr-only"> open the page</span>
        </a>
      )}
    </span>
  );
}
