import { apiPath, share, useResource } from '../lib/api.ts';
import { formatDateOf } from '../lib/dates.ts';
import type { IndexHistoryAnswer, Project } from '../lib/types.ts';

/** The state of a page in the index of the search engine, and when it changed; nothing before its first inspection. */
export function IndexState({ project, url }: { project: Project; url: string }) {
  const path = apiPath(`/projects/${project.id}/index/history`, { page: url });
  const { data } = useResource<IndexHistoryAnswer>(share === undefined ? path : null);
  const page = data?.page ?? null;
  if (data === undefined || page === null) return null;
  const canonical = page.googleCanonical;
  return (
    <section class="card index-state" aria-label="In the index">
      <header>
        <h2>In the index: {page.verdict === 'PASS' ? 'yes' : 'no'}</h2>
        <p class="muted">
          {page.coverageState ?? page.verdict ?? 'The search engine says nothing more'}, since{' '}
          {formatDateOf(page.since)}. Inspected on {formatDateOf(page.inspectedAt)}
          {page.lastCrawlTime !== null && `, last crawled on ${formatDateOf(page.lastCrawlTime)}`}.
        </p>
        {canonical !== null && canonical !== url && <p class="muted">Its canonical page is {canonical}.</p>}
      </header>
      {data.history.length > 1 && (
        <details>
          <summary>{data.history.length} states</summary>
          <ul>
            {data.history.map(({ since, verdict, coverageState }) => (
              <li key={since}>
                {formatDateOf(since)}: {coverageState ?? verdict ?? 'unknown'}
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}
