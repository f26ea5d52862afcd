import { useState } from 'preact/hooks';
import { apiPath, isManager, useResource } from '../lib/api.ts';
import { comparedOf } from '../lib/changes.ts';
import { joinFilters } from '../lib/filter.ts';
import { formatCount, plural } from '../lib/format.ts';
import type { Group, GroupsAnswer, Keyword, KeywordsAnswer, Project } from '../lib/types.ts';
import { keywordCompareParameter, rangeParameters, sparklineInterval, useScreenLink, useView } from '../lib/view.ts';
import { DeviceSelect } from '../parts/controls.tsx';
import { CopyButton } from '../parts/copy.tsx';
import { ListHead, type MetricRow, MetricTable, PAGE_SIZE, Pager } from '../parts/data-table.tsx';
import { FilterBar, useFilter } from '../parts/filter-bar.tsx';
import { GroupTree } from '../parts/group-tree.tsx';
import { CompareSelect, PeriodSelect } from '../parts/period.tsx';
import { ProjectScreen } from '../parts/project-screen.tsx';
import { Sparkline } from '../parts/sparkline.tsx';
import { Empty, ErrorBox, Skeleton } from '../parts/states.tsx';
import { TrackQueries } from '../parts/track-queries.tsx';

/** Positions that belong together: each with the filter that has them. */
const BUCKETS = [
  ['1-3', '1–3', 'position:lte:3', ''],
  ['4-10', '4–10', 'position:lte:10', 'position:gt:3'],
  ['11-20', '11–20', 'position:lte:20', 'position:gt:10'],
  ['21-50', '21–50', 'position:lte:50', 'position:gt:20'],
] as const;

type Parameters = Readonly<Record<string, string | null | undefined>>;

/** The tracked keywords, by group and position. */
export function Keywords() {
  const view = useView();
  const bucket = BUCKETS.find(([name]) => name === view.get('positions'));
  const filter = useFilter('query');
  const [isAdding, setAdding] = useState(false);
  const [done, setDone] = useState('');
  const baseFor = (project: Project): Parameters => ({
    ...rangeParameters(view, project),
    device: view.device === 'all' ? null : view.device,
    group: view.get('group'),
    filter,
  });
  const parametersFor = (project: Project): Parameters => ({
    ...baseFor(project),
    filter: bucket === undefined ? filter : joinFilters(filter, bucket[2], bucket[3]),
    sort: view.get('sort') || '-clicks',
    compare: keywordCompareParameter(view, project),
  });
  return (
    <ProjectScreen
      title="Keywords"
      controls={(project) => (
        <>
          <PeriodSelect project={project} />
          <CompareSelect project={project} />
          <DeviceSelect />
          <CopyButton
            path={`/projects/${project.id}/keywords`}
            parameters={{ ...parametersFor(project), limit: PAGE_SIZE }}
          />
          {isManager.value && !isAdding && (
            <button type="button" class="button" onClick={() => setAdding(true)}>
              Track queries
            </button>
          )}
        </>
      )}
    >
      {(project) => (
        <>
          {done && (
            <p class="notice notice-good" role="status">
              {done}
            </p>
          )}
          {isAdding && (
            <TrackQueries
              project={project}
              onEnd={(text = '') => {
                setAdding(false);
                setDone(text);
              }}
            />
          )}
          {project.trackedKeywords === 0 && done === '' ? (
            <NoKeywords onAdd={isAdding ? undefined : () => setAdding(true)} />
          ) : (
            // Made again where queries were added, to ask for them.
            <div class="keywords" key={done}>
              <Groups project={project} />
              <div class="keywords-list">
                <Buckets project={project} parameters={baseFor(project)} />
                <FilterBar field="query" by={['device']} placeholder="Search keywords   /" />
                <List project={project} parameters={parametersFor(project)} />
              </div>
            </div>
          )}
        </>
      )}
    </ProjectScreen>
  );
}

function Groups({ project }: { project: Project }) {
  const { data, error } = useResource<GroupsAnswer>(`/projects/${project.id}/groups`);
  const groups: readonly Group[] = data?.groups ?? [];
  if (data === undefined && !error) {
    return (
      <div class="group-tree">
        <Skeleton lines={4} height={28} />
      </div>
    );
  }
  return groups.length === 0 ? null : <GroupTree groups={groups} total={project.trackedKeywords} />;
}

/** How many keywords rank where; each number is the filter for it. */
function Buckets({ project, parameters }: { project: Project; parameters: Parameters }) {
  const view = useView();
  const path = `/projects/${project.id}/keywords`;
  const count = (filter: string): string =>
    apiPath(path, { ...parameters, filter: joinFilters(parameters['filter'] ?? '', filter), limit: 1 });
  const isJson = parameters['filter']?.trimStart().startsWith('{') === true;
  const answers = BUCKETS.map(([, , upTo]) => useResource<KeywordsAnswer>(isJson ? null : count(upTo)));
  const totals = answers.map(({ data }) => data?.paging.total);
  if (isJson) return null;
  const chosen = view.get('positions');
  return (
    <nav class="buckets" aria-label="Keywords by position">
      {BUCKETS.map(([name, text], index) => {
        const upTo = totals[index];
        const before = index === 0 ? 0 : totals[index - 1];
        const number = upTo === undefined || before === undefined ? undefined : upTo - before;
        return (
          <a
            key={name}
            class="bucket card"
            href={view.with({ positions: chosen === name ? null : name, offset: null })}
            aria-current={chosen === name ? 'true' : undefined}
          >
            <span>{`Position ${text}`}</span>
            <strong>{number === undefined ? '\u00a0' : formatCount(Math.max(0, number))}</strong>
          </a>
        );
      })}
    </nav>
  );
}

function List({ project, parameters }: { project: Project; parameters: Parameters }) {
  const view = useView();
  const path = `/projects/${project.id}/keywords`;
  const { data, error, isLoading, reload } = useResource<KeywordsAnswer>(
    apiPath(path, {
      ...parameters,
      daily: 1,
      interval: sparklineInterval(view),
      limit: PAGE_SIZE,
      offset: view.get('offset'),
    }),
  );
  const isFiltered = parameters['filter'] !== '' || parameters['group'] !== '';
  return (
    <>
      {error && <ErrorBox error={error} retry={reload} />}
      {data?.range.clamped && (
        <p class="muted clamped">
          Keywords go back to {data.range.from} on this plan; earlier days are not in these numbers.
        </p>
      )}
      {data && <ListHead csv={apiPath(`${path}.csv`, parameters)}>{plural(data.paging.total, 'keyword')}</ListHead>}
      {data?.paging.total === 0 ? (
        <Empty title="No keyword matches">
          {isFiltered && (
            <a href={view.with({ filter: null, search: null, group: null, positions: null, offset: null })}>
              Remove all filters
            </a>
          )}
        </Empty>
      ) : (
        (data !== undefined || error === undefined) && (
          <MetricTable
            label="Keywords"
            nameHeading="Keyword"
            nameField="query"
            cellHeadings={['Trend']}
            rows={data?.keywords.map((keyword) => keywordRow(keyword, project))}
            isStale={isLoading}
            defaultSort="-clicks"
          />
        )
      )}
      {data && <Pager paging={data.paging} />}
    </>
  );
}

function keywordRow(keyword: Keyword, project: Project): MetricRow {
  const { id, query, metrics, daily = [] } = keyword;
  return {
    key: id,
    metrics: { ...metrics, ...comparedOf(keyword) },
    name: <KeywordName id={id} query={query} project={project} />,
    cells: [
      <Sparkline
        key="position"
        values={daily.map(({ position }) => position)}
        width={110}
        height={26}
        inverted
        label={`Position of ${query} over the days of the range`}
      />,
    ],
  };
}

function KeywordName({ id, query, project }: { id: string; query: string; project: Project }) {
  const link = useScreenLink();
  return (
    <a class="text" dir="auto" href={link(`/app/p/${project.id}/keywords/${id}`)}>
      {query}
    </a>
  );
}

function NoKeywords({ onAdd }: { onAdd: (() => void) | undefined }) {
  return (
    <Empty title="No keywords are tracked">
      <p>A tracked query has its position of every day, in groups and with alerts.</p>
      {isManager.value && onAdd && (
        <button type="button" class="button button-main" onClick={onAdd}>
          Track queries
        </button>
      )}
    </Empty>
  );
}
