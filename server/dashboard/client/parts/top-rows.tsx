import { apiPath, useResource } from '../lib/api.ts';
import { filterOfRows, parseFilter, writeFilter } from '../lib/filter.ts';
import { formatMetric } from '../lib/format.ts';
import { shownHost } from '../lib/hosts.ts';
import type { ListAnswer, Project } from '../lib/types.ts';
import { rangeParameters, surfaceParameters, useScreenLink, useView, type View } from '../lib/view.ts';
import { Icon } from './icons.tsx';
import { RowLink } from './row-link.tsx';
import { ErrorBox, Skeleton } from './states.tsx';
import { usualHeight, WIDE_HEIGHT } from './time-chart.tsx';

/** Rows of a list. In wide windows two lists are as high as the chart beside them. */
function rowCount(): number {
  return 7 + Math.max(0, Math.floor((usualHeight() - WIDE_HEIGHT) / 74));
}

interface TopRowsQuery {
  readonly kind: 'queries' | 'pages';
  readonly view: View;
  readonly project: Project | undefined;
}

export function topRowsPath(id: string, { kind, view, project }: TopRowsQuery): string {
  return apiPath(`/projects/${id}/${kind}`, {
    ...rangeParameters(view, project),
    ...surfaceParameters(view.type),
    country: view.country,
    filter: filterOfRows(view.get('filter'), kind === 'queries' ? 'query' : 'url'),
    limit: rowCount(),
  });
}

/** The queries or pages with most clicks. */
export function TopRows({ project, kind }: { project: Project; kind: 'queries' | 'pages' }) {
  const view = useView();
  const link = useScreenLink();
  const { data, error, isLoading, reload } = useResource<ListAnswer>(topRowsPath(project.id, { kind, view, project }));
  const rows =
    data?.queries?.map((row) => ({ ...row, name: row.query, keywordId: row.trackedKeywordId })) ??
    data?.pages?.map((row) => ({ ...row, name: row.url, keywordId: null })) ??
    [];
  const most = Math.max(1, ...rows.map(({ clicks }) => clicks));
  const title = kind === 'queries' ? 'Top queries' : 'Top pages';
  const filter = view.get('filter');
  const exclude = (value: string): void => {
    const condition = { field: kind === 'queries' ? 'query' : 'url', op: 'not_equals', value };
    view.change({ filter: writeFilter([...parseFilter(filter), condition]) });
  };
  return (
    <section class={`card top-rows ${isLoading && data ? 'is-stale' : ''}`} aria-label={title}>
      <header>
        <h2>{title}</h2>
        {view.device !== 'all' && <span class="muted">all devices</span>}
        <a href={link(`/app/p/${project.id}/${kind}`)}>All {kind}</a>
      </header>
      {error && <ErrorBox error={error} retry={reload} />}
      {!data && !error && <Skeleton lines={rowCount()} height={26} />}
      {data && rows.length === 0 && (
        <p class="muted">{filter === '' ? 'No data in this period.' : `No ${kind} match these filters.`}</p>
      )}
      <ol>
        {rows.map(({ name, clicks, keywordId }) => (
          <li key={name}>
            <span class="bar" style={{ width: `${(100 * clicks) / most}%` }} />
            <RowLink project={project} kind={kind} text={name} keywordId={keywordId} class="bar-name">
              {kind === 'pages' ? shortUrl(name, project.domain) : name}
            </RowLink>
            <span class="bar-value">{formatMetric('clicks', clicks)}</span>
            {!filter.startsWith('{') && (
              <button
                type="button"
                class="icon-button exclude"
                title="Exclude from these lists"
                onClick={() => exclude(name)}
              >
                <Icon name="close" size={12} />
                <span class="sr-only">Exclude {name}</span>
              </button>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}

/** As people read it: `%C3%BC` is `ü`. What is no text stays as it is, and so do spaces and marks that hide. */
function decoded(path: string): string {
  return path.replaceAll(/(?:%[0-9a-f]{2})+/gi, (codes) => {
    try {
      const text = decodeURIComponent(codes);
      return /^[\p{L}\p{N}\p{M}]+$/u.test(text) ? text : codes;
    } catch {
      return codes;
    }
  });
}

/** An address of the project without what all of them begin with. */
export function shortUrl(url: string, domain: string): string {
  const parsed = URL.parse(url);
  if (parsed === null) return url;
  const path = decoded(parsed.pathname + parsed.search + parsed.hash);
  return parsed.hostname === domain || parsed.hostname === `www.${domain}` ? path : shownHost(parsed.hostname) + path;
}
