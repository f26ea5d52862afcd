import { apiPath, type Resource, useResource } from '../lib/api.ts';
import { formatDateOf } from '../lib/dates.ts';
import type { IndexAnswer, Project } from '../lib/types.ts';
import { useView } from '../lib/view.ts';
import { Select } from './controls.tsx';
import { PAGE_SIZE, Pager } from './data-table.tsx';
import { Search } from './filter-bar.tsx';
import { RowLink } from './row-link.tsx';

const VERDICTS = [
  ['', 'All pages'],
  ['out', 'Not in the index'],
  ['in', 'In the index'],
] as const;
const ORDERS = [
  ['url', 'By address'],
  ['-since', 'Changed last'],
  ['-lastCrawlTime', 'Crawled last'],
  ['-inspectedAt', 'Inspected last'],
] as const;

/** The pages that the address of the screen asks for. */
export function useIndexedPages({ id }: Project): Resource<IndexAnswer> {
  const view = useView();
  const [search, verdict] = [view.get('search'), view.get('verdict')];
  const conditions = [
    ...(verdict === '' ? [] : [{ field: 'verdict', op: verdict === 'in' ? 'equals' : 'not_equals', value: 'PASS' }]),
    ...(search === '' ? [] : [{ field: 'url', op: 'contains', value: search }]),
  ];
  return useResource(
    apiPath(`/projects/${id}/index`, {
      filter: conditions.length === 0 ? null : JSON.stringify({ match: 'all', conditions }),
      sort: view.get('sort'),
      limit: PAGE_SIZE,
      offset: view.get('offset'),
    }),
  );
}

interface Props {
  readonly project: Project;
  readonly answer: Resource<IndexAnswer>;
}

/** The pages of a project that the search engine was asked about, with filter, order and pages; nothing before the first. */
export function IndexedPages({ project, answer: { data, isLoading } }: Props) {
  const view = useView();
  if (data === undefined || data.inspectedAt === null) return null;
  return (
    <section class={`card surfaces ${isLoading ? 'is-stale' : ''}`} aria-label="Pages in the index">
      <header>
        <h2>Pages in the index</h2>
        {data.reason !== null && <p class="muted">{data.reason}</p>}
        <div class="filter-bar">
          <Search placeholder="Part of an address" />
          <Select
            label="Verdict"
            value={view.get('verdict')}
            options={VERDICTS}
            onChange={(value) => view.change({ verdict: value || null, offset: null })}
          />
          <Select
            label="Order"
            value={view.get('sort') || 'url'}
            options={ORDERS}
            onChange={(value) => view.change({ sort: value === 'url' ? null : value, offset: null })}
          />
        </div>
      </header>
      <table class="metric-table">
        <thead>
          <tr>
            <th scope="col">Page</th>
            <th scope="col">State</th>
            <th scope="col">Since</th>
            <th scope="col">Crawled</th>
            <th scope="col">Inspected</th>
          </tr>
        </thead>
        <tbody>
          {data.pages.map(({ url, coverageState, verdict: told, since, lastCrawlTime, inspectedAt }) => (
            <tr key={url}>
              <th scope="row" class="name">
                <RowLink project={project} kind="pages" text={url} class="text">
                  {url}
                </RowLink>
              </th>
              <td>{coverageState ?? told ?? '–'}</td>
              <td>{formatDateOf(since)}</td>
              <td>{lastCrawlTime === null ? '–' : formatDateOf(lastCrawlTime)}</td>
              <td>{formatDateOf(inspectedAt)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {data.pages.length === 0 && <p class="muted">No inspected page is like this.</p>}
      <Pager paging={data.paging} />
    </section>
  );
}
