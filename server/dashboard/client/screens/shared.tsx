import { useEffect, useState } from 'preact/hooks';
import { ApiError, apiPath, forgetAnswers, readError, share, useResource } from '../lib/api.ts';
import { formatDate, formatRange } from '../lib/dates.ts';
import { formatCount, plural } from '../lib/format.ts';
import { shownHost } from '../lib/hosts.ts';
import { useMissingDays } from '../lib/missing-days.ts';
import { siteParameters } from '../lib/site.ts';
import type {
  AlertsAnswer,
  BreakdownsAnswer,
  KeywordsAnswer,
  ListAnswer,
  NotesAnswer,
  Paging,
  Project,
  ProjectsAnswer,
  SiteAnswer,
} from '../lib/types.ts';
import { rangeParameters, useView } from '../lib/view.ts';
import { DeviceSelect } from '../parts/controls.tsx';
import { type MetricRow, MetricTable, PAGE_SIZE, Pager } from '../parts/data-table.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { Performance } from '../parts/performance.tsx';
import { PeriodSelect } from '../parts/period.tsx';
import { Empty, ErrorBox, Skeleton } from '../parts/states.tsx';
import { shortUrl } from '../parts/top-rows.tsx';
import { SharePassword } from './share-password.tsx';

const NAMES: Readonly<Record<string, string>> = {
  overview: 'Overview',
  breakdowns: 'Breakdowns',
  pages: 'Pages',
  queries: 'Queries',
  keywords: 'Keywords',
  alerts: 'Alerts',
  notes: 'Notes',
};

/** What is answered for all days, and by device: a control that changes nothing would say otherwise. */
const ALL_DAYS = new Set(['alerts', 'notes']);
const BY_DEVICE = new Set(['overview', 'keywords']);

interface Found {
  readonly project: Project;
  readonly screens: readonly string[];
}

/** What a shared link shows of its project. */
export function Shared() {
  const [found, setFound] = useState<Found | undefined>();
  const [error, setError] = useState<ApiError | undefined>();
  const load = async (): Promise<void> => {
    setError(undefined);
    const response = await fetch(`${share}/api/projects`);
    if (!response.ok) return setError(await readError(response));
    const [project] = ((await response.json()) as ProjectsAnswer).projects;
    const screens = (response.headers.get('x-share-screens') ?? '').split(' ').filter(Boolean);
    const finalThrough = response.headers.get('x-share-final-through') || null;
    setFound({
      project: { ...project!, finalThrough, alerts: { open: 0, resolved: 0 }, hasCrawler: false },
      screens,
    });
  };
  useEffect(() => {
    load().catch(() => setError(new ApiError(0, 'offline', 'The server cannot be reached.', null)));
  }, []);
  useEffect(() => {
    document.title = found ? `${found.project.domain} · Ordinate` : 'Ordinate';
  }, [found]);
  if (error?.status === 401) {
    return (
      <SharePassword
        onOpen={() => {
          forgetAnswers();
          void load();
        }}
      />
    );
  }
  return (
    <main id="screen" class="shared">
      {error?.status === 404 && (
        <Empty title="This link shows nothing (any more)">Ask who sent it for a new one.</Empty>
      )}
      {error && error.status !== 404 && <ErrorBox error={error} retry={() => void load()} />}
      {!found && !error && <Skeleton lines={2} height={200} />}
      {found && found.screens.length === 0 && <Empty title="This link shows none of its screens: queries are hidden" />}
      {found && found.screens.length > 0 && <Screens {...found} />}
    </main>
  );
}

function Screens({ project, screens }: Found) {
  const view = useView();
  const screen = screens.includes(view.get('screen')) ? view.get('screen') : screens[0]!;
  const { syncedThrough } = project;
  return (
    <>
      <PageHead
        title={shownHost(project.domain)}
        subtitle={syncedThrough === null ? 'No data yet' : `Data through ${formatDate(syncedThrough)}`}
      >
        {!ALL_DAYS.has(screen) && <PeriodSelect project={project} />}
        {BY_DEVICE.has(screen) && <DeviceSelect />}
      </PageHead>
      {screens.length > 1 && (
        <nav class="shared-screens" aria-label="Screens">
          {screens.map((name) => (
            <a
              key={name}
              class="nav-link"
              href={view.with({ screen: name, offset: null, sort: null })}
              aria-current={name === screen ? 'page' : undefined}
            >
              {NAMES[name] ?? name}
            </a>
          ))}
        </nav>
      )}
      {screen === 'overview' && <Site project={project} />}
      {screen === 'breakdowns' && <Breakdowns project={project} />}
      {(screen === 'pages' || screen === 'queries' || screen === 'keywords') && (
        <List key={screen} project={project} kind={screen} />
      )}
      {screen === 'alerts' && <Alerts project={project} />}
      {screen === 'notes' && <Notes project={project} />}
    </>
  );
}

interface Of {
  readonly project: Project;
}

function Site({ project }: Of) {
  const view = useView();
  const path = apiPath(`/projects/${project.id}/site`, siteParameters(view, project)!);
  const { data, ...state } = useResource<SiteAnswer>(path);
  const missing = useMissingDays(project.id, 'site_daily', data?.quality);
  return <Performance name={project.domain} answer={data} state={state} notes={undefined} missing={missing} />;
}

const NAME_FIELDS = { pages: 'url', queries: 'query', keywords: 'query' } as const;

function List({ project, kind }: Of & { kind: keyof typeof NAME_FIELDS }) {
  const view = useView();
  const { data, error, isLoading, reload } = useResource<ListAnswer & Partial<Pick<KeywordsAnswer, 'keywords'>>>(
    apiPath(`/projects/${project.id}/${kind}`, {
      ...rangeParameters(view, project),
      device: kind === 'keywords' && view.device !== 'all' ? view.device : null,
      sort: view.get('sort') || '-clicks',
      limit: PAGE_SIZE,
      offset: view.get('offset'),
    }),
  );
  const rows =
    data?.pages?.map((row) => rowOf(row.url, row, shortUrl(row.url, project.domain))) ??
    data?.queries?.map((row) => rowOf(row.query, row)) ??
    data?.keywords?.map(({ id, query, metrics }) => rowOf(id, metrics, query));
  return (
    <>
      {error && <ErrorBox error={error} retry={reload} />}
      {(data !== undefined || !error) && (
        <MetricTable
          label={NAMES[kind]!}
          nameHeading={NAMES[kind]!}
          nameField={NAME_FIELDS[kind]}
          rows={rows}
          isStale={isLoading}
          defaultSort="-clicks"
        />
      )}
      {data && <Pager paging={data.paging as Paging} />}
    </>
  );
}

function rowOf(key: string, metrics: MetricRow['metrics'], name = key): MetricRow {
  return {
    key,
    metrics,
    name: (
      <span class="row-name" dir="auto" title={key}>
        {name}
      </span>
    ),
  };
}

function Breakdowns({ project }: Of) {
  const view = useView();
  const { data, error, reload } = useResource<BreakdownsAnswer>(
    apiPath(`/projects/${project.id}/breakdowns`, rangeParameters(view, project)),
  );
  if (error) return <ErrorBox error={error} retry={reload} />;
  if (data === undefined) return <Skeleton lines={6} />;
  const tables = [
    ['Devices', data.devices.map((row) => rowOf(row.device, row))],
    ['Countries', data.countries.map((row) => rowOf(row.country, row))],
    ['Appearances', data.appearances.map((row) => rowOf(row.appearance, row))],
  ] as const;
  return (
    <>
      {tables.map(([name, rows]) => (
        <MetricTable
          key={name}
          label={name}
          nameHeading={name}
          nameField={null}
          rows={rows}
          isStale={false}
          isSortable={false}
          defaultSort="-clicks"
        />
      ))}
    </>
  );
}

/** The most that the server answers; there are no further pages. */
const MAX_ALERTS = 500;

function Alerts({ project }: Of) {
  const { data, error, reload } = useResource<AlertsAnswer>(`/projects/${project.id}/alerts?limit=${MAX_ALERTS}`);
  if (error) return <ErrorBox error={error} retry={reload} />;
  if (data === undefined) return <Skeleton lines={4} />;
  if (data.alerts.length === 0) return <Empty title="There are no alerts" />;
  const { alerts } = data;
  return (
    <>
      <p class="muted list-head">
        {alerts.length < MAX_ALERTS
          ? plural(alerts.length, 'alert')
          : `The newest ${formatCount(alerts.length)} alerts`}
      </p>
      <ul class="card items" aria-label="Alerts">
        {alerts.map(({ id, severity, kind, title, body, date, resolvedAt }) => (
          <li key={id}>
            <div class="item-head">
              <span class={`pill severity-${severity}`}>{kind}</span>
              <strong dir="auto">{title}</strong>
              <span class="muted">
                {date !== null && formatDate(date)}
                {resolvedAt !== null && ', resolved'}
              </span>
            </div>
            <p dir="auto">{body}</p>
          </li>
        ))}
      </ul>
    </>
  );
}

function Notes({ project }: Of) {
  const { data, error, reload } = useResource<NotesAnswer>(`/projects/${project.id}/notes`);
  if (error) return <ErrorBox error={error} retry={reload} />;
  if (data === undefined) return <Skeleton lines={4} />;
  if (data.notes.length === 0) return <Empty title="There are no notes" />;
  return (
    <ul class="card items" aria-label="Notes">
      {data.notes.toReversed().map(({ id, date, endDate, text }) => (
        <li key={id}>
          <p class="muted">{endDate === null ? formatDate(date) : formatRange({ from: date, to: endDate })}</p>
          <p dir="auto">{text}</p>
        </li>
      ))}
    </ul>
  );
}
