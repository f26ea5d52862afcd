import { useMemo } from 'preact/hooks';
import { useRoute } from 'preact-iso/router';
import { apiPath, useResource } from '../lib/api.ts';
import { formatDate, formatRange } from '../lib/dates.ts';
import { formatMetric, METRIC_NAMES } from '../lib/format.ts';
import type { DailyMetrics, Day, GroupsAnswer, Metrics, NotesAnswer, PageRow, Project, Range } from '../lib/types.ts';
import { rangeParameters, rangesOf, useScreenLink, useView } from '../lib/view.ts';
import { CompareSelect, PeriodSelect } from '../parts/controls.tsx';
import { CopyButton } from '../parts/copy.tsx';
import { MetricTable } from '../parts/data-table.tsx';
import { markersOf, type ProviderEventsAnswer } from '../parts/markers.ts';
import { MetricTiles } from '../parts/metric-tiles.tsx';
import { pointsOf } from '../parts/points.ts';
import { ProjectScreen } from '../parts/project-screen.tsx';
import { ErrorBox, Skeleton } from '../parts/states.tsx';
import { TimeChart } from '../parts/time-chart.tsx';
import { PageName } from './lists.tsx';

interface KeywordAnswer {
  readonly range: Range & { readonly provisionalAfter: Day | null };
  readonly keyword: {
    readonly id: string;
    readonly query: string;
    readonly intent: string;
    readonly trackedSince: string;
    readonly groupIds: readonly string[];
  };
  readonly totals: Metrics;
  readonly daily: readonly DailyMetrics[];
  readonly pages: readonly PageRow[];
}

/** One tracked keyword: its days, and the pages that ranked for it. */
export function KeywordScreen() {
  const view = useView();
  const { keyword = '' } = useRoute().params;
  return (
    <ProjectScreen
      title="Keyword"
      controls={(project) => (
        <>
          <PeriodSelect project={project} />
          <CompareSelect />
          <CopyButton path={`/projects/${project.id}/keywords`} parameters={{ ...rangeParameters(view), daily: 1 }} />
        </>
      )}
    >
      {(project) => <KeywordView project={project} id={keyword} />}
    </ProjectScreen>
  );
}

function KeywordView({ project, id }: { project: Project; id: string }) {
  const view = useView();
  const link = useScreenLink();
  const { metric } = view;
  const { compared } = rangesOf(view, project);
  const path = `/projects/${project.id}/keywords/${id}`;
  const { data, error, isLoading, reload } = useResource<KeywordAnswer>(apiPath(path, rangeParameters(view)));
  // Days before the keyword history of the plan are no error here.
  const isReadable = compared !== null && compared.from >= project.keywordHistoryFrom;
  const before = useResource<KeywordAnswer>(isReadable ? apiPath(path, { ...compared }) : null);
  const notes = useResource<NotesAnswer>(`/projects/${project.id}/notes`);
  const groups = useResource<GroupsAnswer>(`/projects/${project.id}/groups`);
  const then = before.data;
  const points = useMemo(() => pointsOf(data, metric), [data, metric]);
  const comparedPoints = useMemo(() => then && pointsOf(then, metric), [then, metric]);
  const events = useResource<ProviderEventsAnswer>('/provider-events');
  const markers = useMemo(() => {
    const own = (notes.data?.notes ?? []).filter(({ keyword }) => keyword === null || keyword.id === id);
    return markersOf(own, events.data?.events ?? [], { range: data?.range, metric, device: 'all' });
  }, [notes.data, events.data, data, metric, id]);
  if (error) return <ErrorBox error={error} retry={reload} />;
  if (data === undefined) return <Skeleton lines={2} height={220} />;
  const { keyword, totals, range, pages } = data;
  const names = (groups.data?.groups ?? []).filter(({ id: group }) => keyword.groupIds.includes(group));
  return (
    <>
      <div class="keyword-head">
        <h2>{keyword.query}</h2>
        <span class="pill">{keyword.intent}</span>
        {names.map((group) => (
          <a key={group.id} class="pill" href={link(`/app/p/${project.id}/keywords`, { group: group.id })}>
            {group.name}
          </a>
        ))}
        <span class="muted">tracked since {formatDate(keyword.trackedSince.slice(0, 10))}</span>
      </div>
      <section class={`card performance ${isLoading ? 'is-stale' : ''}`} aria-label="Performance">
        <MetricTiles totals={totals} comparison={then?.totals} />
        <div class="performance-chart">
          <TimeChart
            metric={metric}
            points={points}
            compared={comparedPoints}
            provisionalAfter={range.provisionalAfter}
            markers={markers}
            label={`${METRIC_NAMES[metric]} of the keyword ${keyword.query} by day, ${formatRange(range)}: ${formatMetric(metric, totals[metric])} in all.`}
          />
        </div>
      </section>
      <h2 class="section">Pages that ranked</h2>
      {pages.length === 0 ? (
        <p class="muted">No pages of this keyword are stored for these days.</p>
      ) : (
        <MetricTable
          label="Pages that ranked"
          nameHeading="Page"
          nameField={null}
          rows={pages.map((row) => ({
            key: row.url,
            metrics: row,
            name: <PageName url={row.url} project={project} />,
          }))}
          isStale={isLoading}
          isSortable={false}
          defaultSort="-impressions"
        />
      )}
    </>
  );
}
