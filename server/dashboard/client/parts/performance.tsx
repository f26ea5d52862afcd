import { useMemo } from 'preact/hooks';
import type { Resource } from '../lib/api.ts';
import { metricOf } from '../lib/changes.ts';
import { formatRange } from '../lib/dates.ts';
import { formatMetric, METRIC_NAMES } from '../lib/format.ts';
import type {
  Alert,
  Compared,
  Day,
  MetricValues,
  Note,
  Project,
  Quality,
  RankingUpdate,
  SiteAnswer,
} from '../lib/types.ts';
import { intervalOf, useView } from '../lib/view.ts';
import { Caveats } from './caveats.tsx';
import { ChartLines, useExtraLines } from './chart-lines.tsx';
import { IntervalChoice } from './controls.tsx';
import { markersOf } from './markers.ts';
import { MetricHelp } from './metric-help.tsx';
import { MetricTiles } from './metric-tiles.tsx';
import { comparedPointsOf, pointsOf } from './points.ts';
import { ErrorBox, Skeleton } from './states.tsx';
import { TimeChart, usualHeight } from './time-chart.tsx';

interface PerformanceProps {
  /** For more lines and links; none on shared pages. */
  readonly project?: Project | undefined;
  /** Whose numbers these are, in the middle of a sentence. */
  readonly name: string;
  readonly answer: PerformanceAnswer | undefined;
  readonly state: Pick<Resource<unknown>, 'error' | 'isLoading' | 'reload'>;
  readonly notes: readonly Note[] | undefined;
  readonly alerts?: readonly Alert[] | undefined;
  /** Days without data, whose zeros are no values. */
  readonly missing: ReadonlySet<Day>;
}

/** The part of an answer of the API that tiles and the chart show. */
interface PerformanceAnswer {
  readonly range: SiteAnswer['range'];
  readonly quality?: Quality | undefined;
  readonly totals: MetricValues & Compared;
  readonly daily: SiteAnswer['daily'];
  readonly comparison?: SiteAnswer['daily'] | null;
}

/** Four metrics, one of them over the days of the range, with what is known of these days. */
export function Performance(props: PerformanceProps) {
  const { project, name, answer, state, notes, alerts, missing } = props;
  const { error, isLoading, reload } = state;
  const view = useView();
  const { metric, device } = view;
  const { interval } = intervalOf(view);
  // Drawn as it was requested, also while the answer for another interval is awaited.
  const drawn = useMemo(() => interval, [answer]);
  const points = useMemo(() => pointsOf(answer, { metric, interval: drawn, missing }), [answer, metric, missing]);
  const compared = useMemo(() => comparedPointsOf(answer, metric, drawn), [answer, metric]);
  const markers = useMemo(
    () =>
      markersOf(
        {
          ...{ notes: notes ?? [], events: answer?.quality?.events ?? [], alerts: alerts ?? [] },
          rankingUpdates: (answer?.quality?.rankingUpdates ?? []) as readonly RankingUpdate[],
        },
        { range: answer?.range, metric, device, project: project?.id },
      ),
    [notes, alerts, answer, metric, device, project?.id],
  );
  const found = useExtraLines(project, points, answer?.daily);
  // The same lines are drawn once.
  const extra = useMemo(
    () => (compared === undefined ? found.map(({ compared: _compared, ...line }) => line) : found),
    [JSON.stringify(found), compared === undefined],
  );
  return (
    <section class={`card performance ${isLoading && answer ? 'is-stale' : ''}`} aria-label="Performance">
      <MetricTiles totals={answer?.totals} />
      <div class="performance-chart">
        {error && <ErrorBox error={error} retry={reload} />}
        {answer === undefined && error === undefined && <Skeleton lines={1} height={usualHeight() + 60} />}
        {answer && (
          <>
            <div class="chart-head">
              <p class="muted range-line">
                {describeRange(answer)}
                {view.period !== null && (
                  <label class="newest">
                    <input
                      type="checkbox"
                      checked={view.isNewest}
                      onChange={() => view.change({ newest: view.isNewest ? null : 'yes', offset: null })}
                    />
                    Include newest days
                  </label>
                )}
              </p>
              <MetricHelp />
              <IntervalChoice />
            </div>
            <ChartLines project={project} />
            <TimeChart
              extra={extra}
              metric={metric}
              points={points}
              compared={compared}
              markers={markers}
              onZoom={({ from, to }) => view.change({ from, to, period: null, offset: null })}
              label={`${METRIC_NAMES[metric]} of ${name} by ${drawn}, ${describeTotals(answer)}.`}
            />
            <Caveats answer={answer} />
          </>
        )}
      </div>
    </section>
  );

  function describeTotals({ range, totals }: PerformanceAnswer): string {
    const now = `${formatRange(range)}: ${formatMetric(metric, metricOf(metric, totals))} in total`;
    if (!range.comparison || !totals.comparison) return now;
    return `${now}, compared with ${formatMetric(metric, metricOf(metric, totals.comparison))} in ${formatRange(range.comparison)}`;
  }
}

function describeRange({ range }: PerformanceAnswer): string {
  const { comparison, provisionalAfter = null } = range;
  const days = `${formatRange(range)}${comparison ? ` compared with ${formatRange(comparison)}` : ''}`;
  // Other engines do not say which days are final.
  if (range.engine !== undefined) return `${days}.`;
  return provisionalAfter === null || range.to <= provisionalAfter ? `${days}, final days only.` : `${days}.`;
}
