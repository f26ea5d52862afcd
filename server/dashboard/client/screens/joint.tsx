import { isOtherEngine, SURFACES } from '../../../model/surfaces.ts';
import { apiPath, useResource } from '../lib/api.ts';
import { plural } from '../lib/format.ts';
import type { Compared, DailyMetrics, Metrics, Project, Range } from '../lib/types.ts';
import {
  compareParameter,
  intervalOf,
  rangeParameters,
  surfaceParameters,
  useScreenLink,
  useView,
} from '../lib/view.ts';
import { DeviceSelect } from '../parts/controls.tsx';
import { Crawl } from '../parts/crawl.tsx';
import { FilterBar, useFilter } from '../parts/filter-bar.tsx';
import { IndexState } from '../parts/index-state.tsx';
import { Performance } from '../parts/performance.tsx';
import { CompareSelect, PeriodSelect } from '../parts/period.tsx';
import { ProjectScreen } from '../parts/project-screen.tsx';
import { Missing } from '../parts/states.tsx';
import { shortUrl } from '../parts/top-rows.tsx';
import { List } from './lists.tsx';

/** One query: its days, and the pages that were shown for it. */
export function QueryScreen() {
  return <JointScreen of="query" />;
}

/** One page: its days, and the queries that it was shown for. */
export function PageScreen() {
  return <JointScreen of="page" />;
}

type Subject = 'query' | 'page';
const LISTS = {
  query: { title: 'Query', kind: 'pages', path: 'pages-of-query', field: 'url', heading: 'Its pages' },
  page: { title: 'Page', kind: 'queries', path: 'queries-of-page', field: 'query', heading: 'Its queries' },
} as const;

function JointScreen({ of }: { of: Subject }) {
  const { title, kind, path, field, heading } = LISTS[of];
  const view = useView();
  const filter = useFilter(field);
  const text = view.get('of');
  if (text === '') return <Missing />;
  const isWeekly = isOtherEngine(view.type);
  const parametersFor = (project: Project) => ({
    [of]: text,
    ...rangeParameters(view, project),
    ...(isWeekly
      ? surfaceParameters(view.type)
      : { device: view.device === 'all' ? null : view.device, country: view.country }),
    filter,
    sort: view.get('sort'),
    compare: compareParameter(view, project),
  });
  return (
    <ProjectScreen
      title={title}
      controls={(project) => (
        <>
          <PeriodSelect project={project} />
          <CompareSelect project={project} />
          {!isWeekly && <DeviceSelect />}
        </>
      )}
    >
      {(project) => (
        <>
          <div class="joint">
            <div>
              <Days project={project} of={of} text={text} />
              {of === 'page' && (
                <>
                  <IndexState project={project} url={text} />
                  <Crawl project={project} url={text} />
                </>
              )}
            </div>
            <div>
              <h2 class="section">{isWeekly ? `${heading} in ${SURFACES[view.type].label}` : heading}</h2>
              <FilterBar
                field={field}
                by={isWeekly ? ['type'] : ['country', 'device']}
                placeholder={`Search ${kind}   /`}
              />
              <List
                project={project}
                kind={kind}
                path={`/projects/${project.id}/${path}`}
                parameters={parametersFor(project)}
              />
            </div>
          </div>
        </>
      )}
    </ProjectScreen>
  );
}

/** Only the dashboard has this answer: the archived days of a query or page. */
interface DaysAnswer {
  readonly range: Range;
  readonly isArchived: boolean;
  readonly keywordId: string | null;
  readonly totals: Metrics & Compared;
  readonly daily: readonly DailyMetrics[];
  /** The compared days, by the days that they stand beside. */
  readonly comparison: readonly DailyMetrics[] | null;
}

const NONE: ReadonlySet<string> = new Set();

/** What the subject is, and its line where the archive has one. */
function Days({ project, of, text }: { project: Project; of: Subject; text: string }) {
  const view = useView();
  const link = useScreenLink();
  const { interval } = intervalOf(view);
  const { data, ...state } = useResource<DaysAnswer>(
    apiPath(`/projects/${project.id}/days-of-${of}`, {
      [of]: text,
      ...rangeParameters(view, project),
      interval: interval === 'day' ? null : interval,
      compare: compareParameter(view, project),
    }),
  );
  const isPart = view.country !== '' || view.device !== 'all';
  const hasLine = data === undefined || data.daily.length > 0;
  return (
    <>
      <div class="keyword-head">
        <h2 dir="auto">{of === 'page' ? shortUrl(text, project.domain) : text}</h2>
        {of === 'page' && /^https?:\/\//i.test(text) && (
          <a href={text} target="_blank" rel="noopener noreferrer">
            Open the page ↗
          </a>
        )}
        {data?.keywordId && <a href={link(`/app/p/${project.id}/keywords/${data.keywordId}`)}>Position over time</a>}
        {data && data.daily.length > 0 && (
          <span class="muted">
            {plural(data.daily.length, interval)} in the archive{isPart && ', of all countries and devices'}
          </span>
        )}
      </div>
      {hasLine || state.error ? (
        <Performance
          project={project}
          name={of === 'page' ? 'this page' : `the query ${text}`}
          answer={data}
          state={state}
          notes={undefined}
          missing={NONE}
        />
      ) : (
        <p class="muted">
          {data.isArchived
            ? `The archive of this project has no row of this ${of} in these days.`
            : `Days of single ${of === 'page' ? 'pages' : 'queries'} are not archived in this project.`}
        </p>
      )}
    </>
  );
}
