import { useMemo } from 'preact/hooks';
import { useRoute } from 'preact-iso/router';
import { apiPath, isManager, useResource } from '../lib/api.ts';
import { comparedOf } from '../lib/changes.ts';
import { formatDateOf } from '../lib/dates.ts';
import { writeFilter } from '../lib/filter.ts';
import { useMissingDays } from '../lib/missing-days.ts';
import type { GroupsAnswer, KeywordsAnswer, NotesAnswer, PageRow, Project } from '../lib/types.ts';
import {
  intervalOf,
  keywordCompareParameter,
  rangeParameters,
  useScreenLink,
  useView,
  type View,
} from '../lib/view.ts';
import { DeviceSelect } from '../parts/controls.tsx';
import { CopyButton } from '../parts/copy.tsx';
import { MetricTable } from '../parts/data-table.tsx';
import { KeywordActions } from '../parts/keyword-form.tsx';
import { Performance } from '../parts/performance.tsx';
import { CompareSelect, PeriodSelect } from '../parts/period.tsx';
import { ProjectScreen } from '../parts/project-screen.tsx';
import { RowLink } from '../parts/row-link.tsx';
import { ErrorBox, Skeleton } from '../parts/states.tsx';
import { PageName } from './lists.tsx';

/** Only the dashboard has this answer: the keyword of an id, and the pages that ranked for it. */
interface KeywordAnswer {
  readonly keyword: {
    readonly id: string;
    readonly query: string;
    readonly intent: string;
    readonly trackedSince: string;
    readonly groupIds: readonly string[];
    readonly tags: readonly string[];
    readonly targetUrl: string | null;
  };
  readonly version: string;
  readonly pages: readonly PageRow[];
}

/** The most in an answer. */
const MAX_PAGES = 20;

/** One tracked keyword: its days, and the pages that ranked for it. */
export function KeywordScreen() {
  const { keyword = '' } = useRoute().params;
  return (
    <ProjectScreen
      title="Keyword"
      controls={(project) => (
        <>
          <PeriodSelect project={project} />
          <CompareSelect project={project} />
          <DeviceSelect />
          <CopyKeyword project={project} id={keyword} />
        </>
      )}
    >
      {(project) => <KeywordView project={project} id={keyword} />}
    </ProjectScreen>
  );
}

function useKeyword(project: Project, id: string) {
  const path = `/projects/${project.id}/keywords/${encodeURIComponent(id)}`;
  return useResource<KeywordAnswer>(apiPath(path, rangeParameters(useView(), project)));
}

/** What the list of keywords is asked for: this one, with its days. */
function keywordParameters(view: View, project: Project, query: string) {
  const { interval } = intervalOf(view);
  return {
    ...rangeParameters(view, project),
    device: view.device === 'all' ? null : view.device,
    filter: writeFilter([{ field: 'query', op: 'equals', value: query }]),
    compare: keywordCompareParameter(view, project),
    daily: 1,
    interval: interval === 'day' ? null : interval,
    quality: 1,
  };
}

function CopyKeyword({ project, id }: { project: Project; id: string }) {
  const view = useView();
  const { data } = useKeyword(project, id);
  if (data === undefined) return null;
  const parameters = keywordParameters(view, project, data.keyword.query);
  return <CopyButton path={`/projects/${project.id}/keywords`} parameters={parameters} />;
}

function KeywordView({ project, id }: { project: Project; id: string }) {
  const link = useScreenLink();
  const { data, error, isLoading, reload } = useKeyword(project, id);
  const groups = useResource<GroupsAnswer>(`/projects/${project.id}/groups`);
  if (error) return <ErrorBox error={error} retry={reload} />;
  if (data === undefined) return <Skeleton lines={2} height={220} />;
  const { keyword, pages } = data;
  const names = (groups.data?.groups ?? []).filter(({ id: group }) => keyword.groupIds.includes(group));
  return (
    <>
      <div class="keyword-head">
        <h2 dir="auto">{keyword.query}</h2>
        <span class="pill">{keyword.intent}</span>
        {names.map((group) => (
          <a key={group.id} class="pill" href={link(`/app/p/${project.id}/keywords`, { group: group.id })}>
            {group.name}
          </a>
        ))}
        {keyword.tags.map((tag) => (
          <span key={tag} class="pill" dir="auto">
            {tag}
          </span>
        ))}
        <span class="muted">tracked since {formatDateOf(keyword.trackedSince)}</span>
        {keyword.targetUrl !== null && <span class="muted">target: {keyword.targetUrl}</span>}
      </div>
      {isManager.value && <KeywordActions project={project} read={data} onChange={reload} />}
      <div class="joint">
        <KeywordPerformance project={project} keyword={keyword} />
        <div>
          <h2 class="section">Pages that ranked</h2>
          <p class="list-head">
            <RowLink project={project} kind="queries" text={keyword.query} class="link-button">
              All pages of this query
            </RowLink>
            {pages.length >= MAX_PAGES && <span class="muted">The {MAX_PAGES} with most impressions</span>}
          </p>
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
        </div>
      </div>
    </>
  );
}

function KeywordPerformance({ project, keyword }: { project: Project; keyword: KeywordAnswer['keyword'] }) {
  const view = useView();
  const { id, query } = keyword;
  const path = apiPath(`/projects/${project.id}/keywords`, keywordParameters(view, project, query));
  const { data, ...state } = useResource<KeywordsAnswer>(path);
  const notes = useResource<NotesAnswer>(`/projects/${project.id}/notes`);
  const answer = useMemo(() => seriesOf(data, id), [data, id]);
  const own = useMemo(
    () => notes.data?.notes.filter((note) => note.keyword === null || note.keyword.id === id),
    [notes.data, id],
  );
  const missing = useMissingDays(project.id, 'keyword_daily', data?.quality);
  const isUnknown = data?.keywords.some((found) => found.id === id && found.metrics.clicks === null);
  return (
    <>
      {isUnknown && (
        <p class="muted">
          Totals are unknown: some of these days were stored before this query was tracked, and its own are not loaded.
        </p>
      )}
      <Performance
        project={project}
        name={`the keyword ${query}`}
        answer={answer}
        state={state}
        notes={own}
        missing={missing}
      />
    </>
  );
}

/** The one keyword of an answer as the overview has the site; undefined without it. */
function seriesOf(data: KeywordsAnswer | undefined, id: string) {
  const found = data?.keywords.find((keyword) => keyword.id === id);
  if (data === undefined || found === undefined) return undefined;
  const totals = { ...found.metrics, ...comparedOf(found) };
  return { range: data.range, quality: data.quality, totals, daily: found.daily ?? [] };
}
