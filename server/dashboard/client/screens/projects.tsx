import { useEffect, useState } from 'preact/hooks';
import { apiPath, isManager, session, useResource } from '../lib/api.ts';
import { formatAgo, formatDate } from '../lib/dates.ts';
import { joinFilters } from '../lib/filter.ts';
import { formatMetric, plural } from '../lib/format.ts';
import { shownHost } from '../lib/hosts.ts';
import type { PortfolioAnswer, PortfolioProject, ProjectsAnswer } from '../lib/types.ts';
import { compareParameter, rangeParameters, sparklineInterval, useScreenLink, useView } from '../lib/view.ts';
import { DeviceSelect, Select } from '../parts/controls.tsx';
import { CopyButton } from '../parts/copy.tsx';
import { ListHead, type MetricRow, MetricTable, NO_METRICS, PAGE_SIZE, Pager } from '../parts/data-table.tsx';
import { FilterBar, useFilter } from '../parts/filter-bar.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { CompareSelect, PeriodSelect } from '../parts/period.tsx';
import { Sparkline } from '../parts/sparkline.tsx';
import { Command, Empty, ErrorBox } from '../parts/states.tsx';
import { SYNC_STATES, SyncState } from '../parts/sync-state.tsx';

/** While a project is filling, the list is requested again, in milliseconds. */
const POLL = 20_000;
/** After so many milliseconds, the names of projects are shown before their numbers. */
const SLOW = 250;

/** All projects of the workspace, with how each of them does. The server sorts, filters and pages them. */
export function Projects() {
  useEffect(() => {
    document.title = 'Projects · Ordinate';
  }, []);
  const view = useView();
  const state = view.get('state') in SYNC_STATES ? view.get('state') : '';
  const filter = joinFilters(useFilter('domain'), state && `syncStatus:equals:${state}`);
  const parameters = {
    ...rangeParameters(view, undefined),
    device: view.device === 'all' ? null : view.device,
    // Months end with the last day of each project: the days before them are those that the API takes.
    compare: compareParameter(view, undefined) ?? (view.compare === 'none' ? null : view.compare),
    filter,
    sort: view.get('sort') || '-clicks',
  };
  return (
    <>
      <PageHead title="Projects" subtitle={session.value?.workspace.name}>
        <PeriodSelect project={undefined} />
        <CompareSelect />
        <DeviceSelect />
        <CopyButton path="/portfolio" parameters={{ ...parameters, limit: PAGE_SIZE }} />
      </PageHead>
      <FilterBar field="domain" placeholder="Search projects   /">
        <Select
          label="Sync"
          value={state}
          options={[
            ['', 'Any sync state'],
            ...Object.entries(SYNC_STATES).map(([name, { name: text }]) => [name, text] as const),
          ]}
          onChange={(next) => view.change({ state: next || null, offset: null })}
        />
      </FilterBar>
      <List parameters={parameters} isFiltered={filter !== ''} />
    </>
  );
}

interface ListProps {
  readonly parameters: Readonly<Record<string, string | null | undefined>>;
  readonly isFiltered: boolean;
}

function List({ parameters, isFiltered }: ListProps) {
  const view = useView();
  const link = useScreenLink();
  const path = apiPath('/portfolio', {
    ...parameters,
    daily: 1,
    interval: sparklineInterval(view),
    limit: PAGE_SIZE,
    offset: view.get('offset'),
  });
  const { data, error, isLoading, reload } = useResource<PortfolioAnswer>(path);
  const isFilling = data?.projects.some(
    ({ syncStatus, historyBackfilling }) => syncStatus === 'pending' || historyBackfilling,
  );
  useResource<PortfolioAnswer>(isFilling ? path : null, { poll: POLL });
  // Numbers of a thousand projects take a while; their names do not.
  const isSlow = useLater(data === undefined && error === undefined, SLOW);
  const { data: named } = useResource<ProjectsAnswer>(isSlow && !isFiltered ? '/projects' : null);
  if (data?.paging.total === 0 && !isFiltered) return <NoProjects />;
  return (
    <>
      {error && <ErrorBox error={error} retry={reload} />}
      <ListHead csv={apiPath('/portfolio.csv', parameters)}>
        {data ? plural(data.paging.total, 'project') : '\u00a0'}
      </ListHead>
      {data?.paging.total === 0 ? (
        <Empty title="No project matches">
          <a href={view.with({ filter: null, search: null, state: null, offset: null })}>Remove all filters</a>
        </Empty>
      ) : (
        (data !== undefined || error === undefined) && (
          <MetricTable
            label="Projects"
            nameHeading="Project"
            nameField="domain"
            cellHeadings={['Trend']}
            rows={
              data?.projects.map((project) => projectRow(project, link(`/app/p/${project.id}`))) ??
              named?.projects.slice(0, PAGE_SIZE).map((project) => waitingRow(project, link(`/app/p/${project.id}`)))
            }
            isStale={isLoading || data === undefined}
            defaultSort="-clicks"
          />
        )
      )}
      {data && <Pager paging={data.paging} />}
    </>
  );
}

/** Whether something has lasted for some milliseconds. */
function useLater(isOn: boolean, milliseconds: number): boolean {
  const [isLater, setLater] = useState(false);
  useEffect(() => {
    if (!isOn) return setLater(false);
    const timer = setTimeout(() => setLater(true), milliseconds);
    return () => clearTimeout(timer);
  }, [isOn]);
  return isOn && isLater;
}

/** A project whose numbers are awaited. Its row is another one than that with numbers, which may be elsewhere. */
function waitingRow(project: ProjectsAnswer['projects'][number], href: string): MetricRow {
  const row = projectRow({ ...project, totals: null } as unknown as PortfolioProject, href);
  return { ...row, key: `waiting ${row.key}` };
}

function projectRow(project: PortfolioProject, href: string): MetricRow {
  const { id, domain, totals, daily = [], syncedThrough, lastSyncedAt, error } = project;
  const freshness = syncedThrough === null ? 'No day is synced yet' : `Data through ${formatDate(syncedThrough)}`;
  return {
    key: id,
    metrics: totals ?? NO_METRICS,
    name: (
      <div class="project-name">
        <span class="row-name">
          <a class="text" href={href}>
            {shownHost(domain)}
          </a>
          <SyncState project={project} />
        </span>
        <span class="muted" title={lastSyncedAt === null ? undefined : `Updated ${formatAgo(lastSyncedAt)}`}>
          {error?.message ?? freshness}
        </span>
      </div>
    ),
    cells: [
      <Sparkline
        key="clicks"
        values={daily.map(({ clicks }) => clicks)}
        width={150}
        height={34}
        label={`Clicks of ${domain} over the days of the range: ${formatMetric('clicks', totals?.clicks)} in total, at most ${formatMetric('clicks', Math.max(0, ...daily.map(({ clicks }) => clicks)))}`}
      />,
    ],
  };
}

function NoProjects() {
  const workspace = session.value?.workspace.id ?? 'WORKSPACE';
  return (
    <Empty title="No projects yet">
      {isManager.value && (
        <p>
          <a class="button button-main" href="/app/connect">
            Connect a property of Search Console
          </a>
        </p>
      )}
      <p>A property fills itself with 16 months of data. On the command line, with a service account:</p>
      <Command>{`ordinate projects create --workspace ${workspace} --property sc-domain:acme.example --credentials google.json --sync`}</Command>
      <p>Or load your own files:</p>
      <Command>ordinate load ./snapshot</Command>
    </Empty>
  );
}
