import { useState } from 'preact/hooks';
import { isAnswered, isManager, useResource } from '../lib/api.ts';
import { addDays, countDays, formatAgo, formatDate, formatInstant, formatMonth, formatRange } from '../lib/dates.ts';
import { send, useWork } from '../lib/form.ts';
import { formatCount, formatFinePercent, formatShare } from '../lib/format.ts';
import type { Day, Project, Range, SiteAnswer } from '../lib/types.ts';
import { CopyButton } from '../parts/copy.tsx';
import { Crawl } from '../parts/crawl.tsx';
import { Problem } from '../parts/form.tsx';
import { IndexedPages, useIndexedPages } from '../parts/indexed-pages.tsx';
import { NoData, ProjectScreen } from '../parts/project-screen.tsx';
import { Sitemaps, useSitemaps } from '../parts/sitemaps.tsx';
import { ErrorBox, Skeleton } from '../parts/states.tsx';

type DayState = 'final' | 'provisional' | 'cut_off' | 'failed' | 'missing' | 'absent';

interface TableState {
  readonly table: string;
  readonly firstDay: Day;
  readonly lastDay: Day;
  readonly rows: number;
  readonly runs: readonly (Range & { readonly state: DayState })[];
}

interface DataAnswer {
  readonly calendar: Range | null;
  readonly tables: readonly TableState[];
  readonly stale: readonly { readonly name: string; readonly lastDay: Day }[];
  readonly reconciledThrough: Day | null;
  readonly sync?: {
    readonly lastRun: string | null;
    readonly nextRun: string | null;
    readonly backfill: Range & { readonly done: number; readonly total: number; readonly through: Day };
    readonly error: string | null;
  } | null;
}

const STATES: Readonly<Record<DayState, string>> = {
  final: 'Final',
  provisional: 'May still change',
  cut_off: 'Cut off by the search engine',
  failed: 'Could not be fetched',
  missing: 'Missing',
  absent: 'Not stored',
};
const TABLES: Readonly<Record<string, string>> = {
  site_daily: 'Site',
  keyword_daily: 'Keywords',
  keyword_page_daily: 'Pages of keywords',
  country_daily: 'Countries',
  country_monthly: 'Countries by month',
  appearance_daily: 'Appearances',
  brand_daily: 'Brand',
  page_daily: 'Pages',
  query_daily: 'Queries',
  site_daily_bing: 'Bing: site',
  page_weekly_bing: 'Bing: pages by week',
  query_weekly_bing: 'Bing: queries by week',
  ai_daily: 'AI answers of Google',
  ai_page_period: 'AI answers of Google: pages',
  citation_daily: 'AI answers of Bing',
  citation_page_period: 'AI answers of Bing: pages',
  page_period: 'Lists of pages',
  query_period: 'Lists of queries',
};
/** While history is loading, its state is asked for again, in milliseconds. */
const POLL = 10_000;

/** Which days of which tables are stored, and how the sync stands. */
export function Data() {
  return (
    <ProjectScreen
      title="Data"
      needsData={false}
      isViewed={false}
      controls={(project) => <CopyButton path={`/projects/${project.id}`} hasCsv={false} />}
    >
      {(project) => <State project={project} />}
    </ProjectScreen>
  );
}

function State({ project }: { project: Project }) {
  const isFilling = project.syncStatus === 'pending' || project.historyBackfilling;
  const path = `/projects/${project.id}/data`;
  const { data, error, reload } = useResource<DataAnswer>(path, { poll: isFilling ? POLL : undefined });
  const site = useResource<SiteAnswer>(
    project.syncedThrough === null ? null : `/projects/${project.id}/site?quality=1`,
  );
  const index = useIndexedPages(project);
  const sitemaps = useSitemaps(project);
  const anonymous = site.data?.quality?.anonymousClicksShare ?? null;
  if (error && data === undefined) return <ErrorBox error={error} retry={reload} />;
  if (data === undefined) return <Skeleton lines={4} height={80} />;
  const { calendar, tables, stale, reconciledThrough, sync } = data;
  return (
    <>
      {sync && <Sync sync={sync} project={project} onChange={reload} />}
      <dl class="facts card">
        <Fact
          name="Data through"
          value={project.syncedThrough === null ? 'none yet' : formatDate(project.syncedThrough)}
        />
        <Fact
          name="Last update"
          value={project.lastSyncedAt === null ? 'never' : formatAgo(project.lastSyncedAt)}
          title={project.lastSyncedAt === null ? undefined : formatInstant(project.lastSyncedAt)}
        />
        <Fact
          name="Anonymous clicks"
          value={anonymous === null ? '–' : formatFinePercent(anonymous)}
          title="Share of clicks of the last 28 days whose query the search engine does not name"
        />
        <Fact
          name="Reconciled"
          value={reconciledThrough === null ? 'not yet' : `through ${formatDate(reconciledThrough)}`}
          title="Sums of stored days are compared with the search engine after 7 and 30 days"
        />
      </dl>
      {stale.map(({ name, lastDay }) => (
        <p key={name} class="card problem" role="status">
          {name} has no days after {formatDate(lastDay)}. Later days are unknown, not zero.
        </p>
      ))}
      {calendar === null || tables.length === 0 ? (
        <NoData project={project} isSyncShown />
      ) : (
        <Calendar calendar={calendar} tables={tables} />
      )}
      {/* Together, so that none pushes down another. */}
      {[index, sitemaps].every(isAnswered) && (
        <>
          <IndexedPages project={project} answer={index} />
          <Sitemaps answer={sitemaps} />
          <Crawl project={project} />
        </>
      )}
    </>
  );
}

function Fact({ name, value, title }: { name: string; value: string; title?: string | undefined }) {
  return (
    <div title={title}>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

interface SyncProps {
  readonly sync: NonNullable<DataAnswer['sync']>;
  readonly project: Project;
  readonly onChange: () => void;
}

function Sync({ sync: { lastRun, nextRun, backfill, error }, project, onChange }: SyncProps) {
  const work = useWork();
  const [isRequested, setRequested] = useState(false);
  const syncNow = (): Promise<boolean> =>
    work.run(async () => {
      await send('POST', `/projects/${project.id}/sync`, {});
      setRequested(true);
      onChange();
    });
  const share = backfill.total === 0 ? 0 : backfill.done / backfill.total;
  return (
    <section class="card sync" aria-label="Sync">
      <h2>{share < 1 ? 'Loading history' : 'All days are in'}</h2>
      <progress max={1} value={share} aria-label="Days loaded" />
      <p class="muted">
        {formatCount(backfill.done)} of {formatCount(backfill.total)} days ({formatShare(share)}), from{' '}
        {formatDate(backfill.from)}
        {lastRun !== null && `; last run ${formatAgo(lastRun)}`}
        {nextRun !== null && `; next run ${formatAgo(nextRun)}`}
      </p>
      {error !== null && <p class="problem">{error}</p>}
      {isManager.value && (
        <p class="form-buttons">
          {isRequested ? (
            <span role="status">It begins within seconds.</span>
          ) : (
            <button type="button" class="button" disabled={work.isBusy} onClick={() => void syncNow()}>
              Sync now
            </button>
          )}
        </p>
      )}
      <Problem problem={work.problem} />
    </section>
  );
}

/** A strip for each table: a piece for the days in a row that are in the same state. */
function Calendar({ calendar, tables }: { calendar: Range; tables: readonly TableState[] }) {
  const total = countDays(calendar);
  const used = new Set(tables.flatMap(({ runs }) => runs.map(({ state }) => state)));
  return (
    <section class="card calendar" aria-label="Days by table">
      <div class="calendar-rows">
        {tables.map(({ table, firstDay, lastDay, rows, runs }) => (
          <div key={table} class="calendar-row">
            <h2>
              {TABLES[table] ?? table}
              <span class="muted">{formatCount(rows)} rows</span>
            </h2>
            <div
              class="strip"
              role="img"
              aria-label={`${TABLES[table] ?? table}, ${formatRange({ from: firstDay, to: lastDay })}: ${describeRuns(runs)}`}
            >
              {runs.map((run) => (
                <span
                  key={run.from}
                  class={`day-${run.state}`}
                  style={{ flexGrow: countDays(run) / total }}
                  title={`${formatRange(run)}: ${STATES[run.state]}`}
                />
              ))}
            </div>
          </div>
        ))}
        <div class="calendar-row" aria-hidden="true">
          <span />
          <div class="months">
            {monthStarts(calendar).map(({ day, share }) => (
              <span key={day} style={{ left: `${100 * share}%` }}>
                {day.slice(5, 7) === '01' ? day.slice(0, 4) : formatMonth(day)}
              </span>
            ))}
          </div>
        </div>
      </div>
      <p class="calendar-keys muted">
        {(Object.keys(STATES) as DayState[])
          .filter((state) => used.has(state))
          .map((state) => (
            <span key={state}>
              <span class={`dot day-${state}`} /> {STATES[state]}
            </span>
          ))}
      </p>
    </section>
  );
}

function describeRuns(runs: TableState['runs']): string {
  const days = new Map<DayState, number>();
  for (const run of runs) days.set(run.state, (days.get(run.state) ?? 0) + countDays(run));
  return [...days].map(([state, count]) => `${formatCount(count)} days ${STATES[state].toLowerCase()}`).join(', ');
}

/** Every second month of the calendar, with how far along it begins. */
function monthStarts({ from, to }: Range): { day: Day; share: number }[] {
  const starts: { day: Day; share: number }[] = [];
  const total = countDays({ from, to });
  let [year = 0, month = 1] = from.split('-').map(Number);
  for (;;) {
    month += 1;
    if (month > 12) [year, month] = [year + 1, 1];
    const day = `${year}-${String(month).padStart(2, '0')}-01`;
    if (day > addDays(to, -20)) return starts;
    if (month % 2 === 1 || total < 200) starts.push({ day, share: (countDays({ from, to: day }) - 1) / total });
  }
}
