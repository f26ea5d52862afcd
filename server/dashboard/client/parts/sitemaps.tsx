import { type Resource, useResource } from '../lib/api.ts';
import { formatDateOf } from '../lib/dates.ts';
import { formatCount } from '../lib/format.ts';
import type { Project, SitemapsAnswer } from '../lib/types.ts';
import { NumberHeading } from './numbers.tsx';

export function useSitemaps({ id }: Project): Resource<SitemapsAnswer> {
  return useResource(`/projects/${id}/sitemaps`);
}

/** The sitemaps that the search engine knows, with what is wrong with them; nothing if there are none. */
export function Sitemaps({ answer: { data } }: { answer: Resource<SitemapsAnswer> }) {
  if (data === undefined || data.sitemaps.length === 0) return null;
  return (
    <section class="card surfaces" aria-label="Sitemaps">
      <header>
        <h2>Sitemaps</h2>
        {data.reason !== null && <p class="muted">{data.reason}</p>}
      </header>
      <table class="metric-table">
        <thead>
          <tr>
            <th scope="col">Address</th>
            <th scope="col">Last read</th>
            <NumberHeading>Pages</NumberHeading>
            <NumberHeading>Errors</NumberHeading>
            <NumberHeading>Warnings</NumberHeading>
          </tr>
        </thead>
        <tbody>
          {data.sitemaps.map(({ path, lastDownloaded, isPending, urls, errors, warnings }) => (
            <tr key={path}>
              <th scope="row" class="name">
                {path}
              </th>
              <td>{isPending ? 'not yet' : lastDownloaded === null ? '–' : formatDateOf(lastDownloaded)}</td>
              <td class="number">{urls === null ? '–' : formatCount(urls)}</td>
              <td class="number">{formatCount(errors)}</td>
              <td class="number">{formatCount(warnings)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
