import { useEffect, useState } from 'preact/hooks';
import { request, session } from '../lib/api.ts';
import { formatAgo, formatDate } from '../lib/dates.ts';
import { useWork } from '../lib/form.ts';
import { formatMetric, plural } from '../lib/format.ts';
import type { Home, PortfolioTotals } from '../lib/home.ts';
import { shownHost } from '../lib/hosts.ts';
import type { PortfolioProject, ProjectsAnswer } from '../lib/types.ts';
import { type MetricRow, NO_METRICS } from './data-table.tsx';
import { Icon } from './icons.tsx';
import { Sparkline } from './sparkline.tsx';
import { SyncState } from './sync-state.tsx';

/** A project whose numbers are awaited. Its row is another one than that with numbers, which may be elsewhere. */
export function waitingRow(project: ProjectsAnswer['projects'][number], href: string): MetricRow {
  const row = projectRow({ ...project, totals: null } as unknown as PortfolioProject, href);
  return { ...row, key: `waiting ${row.key}` };
}

/** The sum of all projects of the list, before them. */
export function totalRows(count: number, answer: PortfolioTotals | undefined): MetricRow[] {
  if (count < 2) return [];
  return [
    {
      key: 'total',
      metrics: answer?.totals ?? NO_METRICS,
      name: <strong class="total-name">All {plural(count, 'project')}</strong>,
      cells: [null],
    },
  ];
}

/** What is known of a project besides its numbers. */
interface ProjectHome {
  readonly open: number;
  readonly tags: readonly string[];
  readonly isMarked: boolean;
}

/** What is known of a project besides its numbers. */
export function homeOf(home: Home | undefined, id: string): ProjectHome {
  return {
    open: home?.counts.find(({ project }) => project === id)?.open ?? 0,
    tags: home?.tags.flatMap(({ project, tag }) => (project === id ? [tag] : [])) ?? [],
    isMarked: home?.favourites.includes(id) === true,
  };
}

/** Marks a project for oneself; nothing in sessions of keys. */
function Star({ id, domain, isMarked, onMark }: { id: string; domain: string; isMarked: boolean; onMark: () => void }) {
  const work = useWork();
  const [isNow, setNow] = useState(isMarked);
  useEffect(() => setNow(isMarked), [isMarked]);
  if (session.value?.email == null) return null;
  const mark = (): Promise<boolean> => {
    setNow(!isNow);
    return work.run(async () => {
      await request(`/projects/${id}/favourite`, { method: isNow ? 'DELETE' : 'PUT' });
      onMark();
    });
  };
  return (
    <button type="button" class="icon-button star" aria-pressed={isNow} onClick={() => void mark()}>
      <Icon name="star" />
      <span class="sr-only">Favourite: {domain}</span>
    </button>
  );
}

/** A project with its numbers. */
export function projectRow(
  project: PortfolioProject,
  href: string,
  { open, tags, isMarked }: ProjectHome = homeOf(undefined, ''),
  onMark: () => void = () => undefined,
): MetricRow {
  const { id, domain, totals, daily = [], syncedThrough, lastSyncedAt, error } = project;
  const freshness = syncedThrough === null ? 'No day is synced yet' : `Data through ${formatDate(syncedThrough)}`;
  return {
    key: id,
    metrics: totals ?? NO_METRICS,
    name: (
      <div class="project-name">
        <span class="row-name">
          <Star id={id} domain={shownHost(domain)} isMarked={isMarked} onMark={onMark} />
          <a class="text" href={href}>
            {shownHost(domain)}
          </a>
          <SyncState project={project} />
          {open > 0 && (
            <a class="pill severity-warning" href={`/app/p/${id}/alerts`}>
              {plural(open, 'alert')}
            </a>
          )}
          {tags.map((tag) => (
            <span key={tag} class="pill" dir="auto">
              {tag}
            </span>
          ))}
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
