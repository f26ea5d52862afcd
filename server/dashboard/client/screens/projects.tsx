import { useEffect, useMemo, useState } from 'preact/hooks';
import { apiPath, isManager, session, useAskFor, useResource } from '../lib/api.ts';
import { joinFilters } from '../lib/filter.ts';
import { plural } from '../lib/format.ts';
import type { Home, PortfolioTotals } from '../lib/home.ts';
import { lastVisit } from '../lib/last-visit.ts';
import type { PortfolioAnswer, PortfolioProject, ProjectsAnswer } from '../lib/types.ts';
import {
  compareParameter,
  rangeParameters,
  sparklineInterval,
  useScreenLink,
  useView,
  type View,
} from '../lib/view.ts';
import { DeviceSelect, Select } from '../parts/controls.tsx';
import { CopyButton } from '../parts/copy.tsx';
import { ListHead, type MetricRow, MetricTable, PAGE_SIZE, Pager } from '../parts/data-table.tsx';
import { FilterBar, useFilter } from '../parts/filter-bar.tsx';
import { Icon } from '../parts/icons.tsx';
import { OpenAlerts } from '../parts/open-alerts.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { CompareSelect, PeriodSelect } from '../parts/period.tsx';
import { homeOf, projectRow, totalRows, waitingRow } from '../parts/project-rows.tsx';
import { Command, Empty, ErrorBox, Skeleton } from '../parts/states.tsx';
import { SYNC_STATES } from '../parts/sync-state.tsx';

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
  const [visited] = useState(lastVisit);
  const tag = view.get('tag');
  const isMarked = view.get('marked') === 'yes';
  const parameters = {
    ...rangeParameters(view, undefined),
    device: view.device === 'all' ? null : view.device,
    // Months end with the last day of each project: the days before them are those that the API takes.
    compare: compareParameter(view, undefined) ?? (view.compare === 'none' ? null : view.compare),
    filter,
    sort: view.get('sort') || '-clicks',
    tag,
    favourites: isMarked ? 1 : null,
  };
  const homePath = apiPath('/home', { since: visited?.toISOString() });
  const totalsPath = apiPath('/portfolio-totals', parameters);
  useAskFor([homePath, totalsPath]);
  const home = useResource<Home>(homePath);
  const listPath = portfolioPath(parameters, view, home.data);
  const names = useResource<ProjectsAnswer>(home.data && home.data.alerts.length > 0 ? '/projects' : null);
  const domains = useMemo(() => new Map(names.data?.projects.map(({ id, domain }) => [id, domain])), [names.data]);
  const tags = [...new Set(home.data?.tags.map((one) => one.tag))];
  // What comes above the list comes first: rows that are read do not move.
  const isReady = home.data !== undefined || home.error !== undefined;
  return (
    <>
      <PageHead title="Projects" subtitle={session.value?.workspace.name}>
        <PeriodSelect project={undefined} />
        <CompareSelect />
        <DeviceSelect />
        {/* The API has neither tags nor marks. */}
        {!isPart(parameters) && (
          <CopyButton path="/portfolio" parameters={{ ...parameters, limit: PAGE_SIZE, offset: view.get('offset') }} />
        )}
      </PageHead>
      {isReady ? (
        <>
          {home.data && <OpenAlerts home={home.data} visited={visited} domains={domains} />}
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
            {(tags.length > 0 || tag !== '') && (
              <Select
                label="Tag"
                value={tag}
                options={[
                  ['', 'Any tag'],
                  ...[...new Set([...tags, ...(tag ? [tag] : [])])].map((name) => [name, name] as const),
                ]}
                onChange={(next) => view.change({ tag: next || null, offset: null })}
              />
            )}
            {session.value?.email != null && (
              <button
                type="button"
                class="button"
                aria-pressed={isMarked}
                onClick={() => view.change({ marked: isMarked ? null : 'yes', offset: null })}
              >
                <Icon name="star" size={14} /> Favourites
              </button>
            )}
          </FilterBar>
          <List
            path={listPath}
            parameters={parameters}
            totalsPath={totalsPath}
            home={home.data}
            onMark={home.reload}
            isFiltered={filter !== '' || tag !== '' || isMarked}
          />
        </>
      ) : (
        <Skeleton lines={3} height={120} />
      )}
    </>
  );
}

type Parameters = Readonly<Record<string, string | number | null | undefined>>;

/** Whether a tag or the marks of the member narrow the list. */
function isPart(parameters: Parameters): boolean {
  return parameters['tag'] !== '' || parameters['favourites'] !== null;
}

/** What answers the list: some projects only, or the favourites of the member before all others. */
function portfolioPath(parameters: Parameters, view: View, home: Home | undefined): string {
  const hasFavourites = parameters['favourites'] === null && home !== undefined && home.favourites.length > 0;
  const path = hasFavourites ? '/portfolio-by-favourites' : isPart(parameters) ? '/portfolio-of' : '/portfolio';
  return apiPath(path, {
    ...parameters,
    daily: 1,
    interval: sparklineInterval(view),
    limit: PAGE_SIZE,
    offset: view.get('offset'),
  });
}

interface ListProps {
  readonly path: string;
  readonly parameters: Parameters;
  readonly totalsPath: string;
  readonly home: Home | undefined;
  readonly onMark: () => void;
  readonly isFiltered: boolean;
}

function List({ path, parameters, totalsPath, home, onMark, isFiltered }: ListProps) {
  const view = useView();
  const link = useScreenLink();
  const { data, error, isLoading, reload } = useResource<PortfolioAnswer>(path);
  const isFilling = data?.projects.some(
    ({ syncStatus, historyBackfilling }) => syncStatus === 'pending' || historyBackfilling,
  );
  useResource<PortfolioAnswer>(isFilling ? path : null, { poll: POLL });
  const totals = useResource<PortfolioTotals>(data && data.paging.total > 1 ? totalsPath : null);
  const rowFor = (project: PortfolioProject): MetricRow =>
    projectRow(project, link(`/app/p/${project.id}`), homeOf(home, project.id), onMark);
  // Numbers of a thousand projects take a while; their names do not.
  const isSlow = useLater(data === undefined && error === undefined, SLOW);
  const { data: named } = useResource<ProjectsAnswer>(isSlow && !isFiltered ? '/projects' : null);
  if (data?.paging.total === 0 && !isFiltered) return <NoProjects />;
  return (
    <>
      {error && <ErrorBox error={error} retry={reload} />}
      <ListHead csv={apiPath(isPart(parameters) ? '/portfolio-of.csv' : '/portfolio.csv', parameters)}>
        {data ? plural(data.paging.total, 'project') : '\u00a0'}
      </ListHead>
      {data?.paging.total === 0 ? (
        <Empty title="No project matches">
          <a href={view.with({ filter: null, search: null, state: null, tag: null, marked: null, offset: null })}>
            Remove all filters
          </a>
        </Empty>
      ) : (
        (data !== undefined || error === undefined) && (
          <MetricTable
            label="Projects"
            nameHeading="Project"
            nameField="domain"
            cellHeadings={['Trend']}
            rows={
              (data && [...totalRows(data.paging.total, totals.data), ...data.projects.map(rowFor)]) ??
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
