import { useState } from 'preact/hooks';
import { apiPath, isManager, share, useResource } from '../lib/api.ts';
import { formatDate, formatDateOf } from '../lib/dates.ts';
import { formatCount } from '../lib/format.ts';
import type { CrawlAnswer, Project } from '../lib/types.ts';
import { Downloads } from './downloads.tsx';
import { ErrorBox, Skeleton } from './states.tsx';

/** The newest days that are shown. */
const SHOWN = 14;

/** What Bing's crawler found on the site, or of a page. Bing is asked when it is opened. */
export function Crawl({ project, url }: { project: Project; url?: string }) {
  const [isOpen, setOpen] = useState(false);
  const path = apiPath(`/projects/${project.id}/crawl`, { page: url });
  const { data, error, reload } = useResource<CrawlAnswer>(isOpen ? path : null);
  if (share !== undefined || !project.hasCrawler) return null;
  return (
    <section class="card index-state" aria-label="Bing's crawler">
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>Bing's crawler</summary>
        {!isOpen ? null : error ? (
          <ErrorBox error={error} retry={reload} />
        ) : data === undefined ? (
          <Skeleton lines={2} height={40} />
        ) : (
          <>
            <Reason answer={data} />
            {url === undefined ? <Days project={project} days={data.days} /> : <Page page={data.page} />}
          </>
        )}
      </details>
    </section>
  );
}

/** Why Bing tells nothing now, and what can be done. */
function Reason({ answer: { reason, page, days } }: { answer: CrawlAnswer }) {
  if (reason !== null) {
    return (
      <p>
        {reason}{' '}
        {isManager.value ? (
          <a href="/app/connect">Connect Bing or replace its key</a>
        ) : (
          'Owners and admins connect Bing.'
        )}
      </p>
    );
  }
  if (page !== null || days.length > 0) return null;
  return (
    <p>
      Bing's crawler has told nothing of it yet. Submit it in{' '}
      <a href="https://www.bing.com/webmasters" target="_blank" rel="noopener noreferrer">
        Bing Webmaster Tools
      </a>
      , or link to it from pages that Bing knows.
    </p>
  );
}

function Page({ page }: { page: CrawlAnswer['page'] }) {
  if (page === null) return null;
  const { isFolder, discoveredAt, lastCrawlTime, httpStatus, documentSize } = page;
  return (
    <p class="muted">
      {isFolder && 'Bing knows it as a folder of pages. '}
      {discoveredAt !== null && `Discovered on ${formatDateOf(discoveredAt)}. `}
      {lastCrawlTime === null ? 'Not crawled yet' : `Last crawled on ${formatDateOf(lastCrawlTime)}`}
      {httpStatus !== null && `, with status ${httpStatus}`}
      {documentSize !== null && `, ${formatCount(documentSize)} bytes`}. Whether it is in the index, Bing does not say.
    </p>
  );
}

function Days({ project, days }: { project: Project; days: CrawlAnswer['days'] }) {
  if (days.length === 0) return null;
  return (
    <>
      <table class="metric-table">
        <thead>
          <tr>
            <th scope="col">Day</th>
            {['Crawled', 'Errors', 'Blocked', 'In its index'].map((name) => (
              <th key={name} scope="col" class="number">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {days
            .slice(-SHOWN)
            .toReversed()
            .map(({ date, crawledPages, crawlErrors, blockedByRobotsTxt, inIndex }) => (
              <tr key={date}>
                <th scope="row">{formatDate(date)}</th>
                {[crawledPages, crawlErrors, blockedByRobotsTxt, inIndex].map((count, index) => (
                  <td key={index} class="number">
                    {formatCount(count)}
                  </td>
                ))}
              </tr>
            ))}
        </tbody>
      </table>
      <p class="muted">
        {formatCount(days.length)} days since {formatDate(days[0]!.date)}{' '}
        <Downloads csv={`/projects/${project.id}/crawl.csv`} />
      </p>
    </>
  );
}
