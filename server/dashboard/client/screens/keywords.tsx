import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { apiPath, isManager, useResource } from '../lib/api.ts';
import { comparedOf } from '../lib/changes.ts';
import { formatDate } from '../lib/dates.ts';
import { useOpen } from '../lib/drafts.ts';
import { joinFilters } from '../lib/filter.ts';
import { formatMetric, plural } from '../lib/format.ts';
import { bandFilter } from '../lib/positions.ts';
import { projectOf } from '../lib/screens.ts';
import type { Tracker } from '../lib/tracker.ts';
import type { Group, GroupsAnswer, Keyword, KeywordsAnswer, Project } from '../lib/types.ts';
import { keywordCompareParameter, rangeParameters, sparklineInterval, useView } from '../lib/view.ts';
import { ArchivedKeywords } from '../parts/archived-keywords.tsx';
import { DeviceSelect } from '../parts/controls.tsx';
import { CopyButton } from '../parts/copy.tsx';
import { ListHead, type MetricRow, MetricTable, PAGE_SIZE, Pager } from '../parts/data-table.tsx';
import { FilterBar, useFilter } from '../parts/filter-bar.tsx';
import { GroupTree } from '../parts/group-tree.tsx';
import { KeywordName } from '../parts/keyword-name.tsx';
import { ChangeTabs, moversOf } from '../parts/movers.tsx';
import { CompareSelect, PeriodSelect } from '../parts/period.tsx';
import { Distribution, PositionBands } from '../parts/position-bands.tsx';
import { ProjectScreen } from '../parts/project-screen.tsx';
import { Sparkline } from '../parts/sparkline.tsx';
import { Empty, ErrorBox, Skeleton } from '../parts/states.tsx';
import { TrackQueries } from '../parts/track-queries.tsx';

type Parameters = Readonly<Record<string, string | null | undefined>>;

/** The tracked keywords, by group and position. */
export function Keywords() {
  const view = useView();
  const filter = useFilter('query');
  const isArchived = view.get('archived') === 'yes';
  const { path } = useLocation();
  const [isAdding, setAdding] = useOpen(`/projects/${projectOf(path)}/keywords`);
  const [done, setDone] = useState('');
  const baseFor = (project: Project): Parameters => ({
    ...rangeParameters(view, project),
    device: view.device === 'all' ? null : view.device,
    group: view.get('group'),
    filter,
  });
  const parametersFor = (project: Project): Parameters => ({
    ...baseFor(project),
    filter: joinFilters(filter, bandFilter(view.get('positions'))),
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
            parameters={{ ...parametersFor(project), limit: PAGE_SIZE, offset: view.get('offset') }}
          />
          {isManager.value && (
            <button
              type="button"
              class="button"
              aria-pressed={isArchived}
              onClick={() => view.change({ archived: isArchived ? null : 'yes', offset: null })}
            >
              Archived
            </button>
          )}
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
          {isArchived ? (
            <ArchivedKeywords
              key={done}
              project={project}
              onChange={(query) => setDone(`“${query}” is tracked again.`)}
            />
          ) : project.trackedKeywords === 0 && done === '' ? (
            <NoKeywords onAdd={isAdding ? undefined : () => setAdding(true)} />
          ) : (
            // Made again where queries were added, to ask for them.
            <RankTracker key={done} project={project} base={baseFor(project)} parameters={parametersFor(project)} />
          )}
        </>
      )}
    </ProjectScreen>
  );
}

interface RankTrackerProps {
  readonly project: Project;
  /** What keywords are asked for, without what only the list has. */
  readonly base: Parameters;
  readonly parameters: Parameters;
}

function RankTracker({ project, base, parameters }: RankTrackerProps) {
  const view = useView();
  const { data: tracker, error } = useResource<Tracker>(
    apiPath(`/projects/${project.id}/tracker`, {
      ...base,
      compare: keywordCompareParameter(view, project),
      interval: sparklineInterval(view),
    }),
  );
  return (
    <div class="keywords">
      <Groups project={project} tracker={tracker} />
      <div class="keywords-list">
        <PositionBands tracker={tracker} />
        {tracker ? <Distribution tracker={tracker} /> : !error && <Skeleton lines={1} height={190} />}
        <FilterBar field="query" by={['device']} placeholder="Search keywords   /">
          <ChangeTabs label="Keywords by change" />
        </FilterBar>
        <List project={project} parameters={parameters} targets={tracker?.targets ?? NO_TARGETS} />
      </div>
    </div>
  );
}

const NO_TARGETS: Tracker['targets'] = {};

function Groups({ project, tracker }: { project: Project; tracker: Tracker | undefined }) {
  const { data, error } = useResource<GroupsAnswer>(`/projects/${project.id}/groups`);
  const groups: readonly Group[] = data?.groups ?? [];
  if (data === undefined && !error) {
    return (
      <div class="group-tree">
        <Skeleton lines={5} height={28} />
      </div>
    );
  }
  return groups.length === 0 ? null : (
    <GroupTree groups={groups} total={project.trackedKeywords} lines={tracker?.groups} />
  );
}

interface ListProps extends Omit<RankTrackerProps, 'base'> {
  readonly targets: Tracker['targets'];
}

function List({ project, parameters, targets }: ListProps) {
  const view = useView();
  const movers = moversOf(view);
  const path = `/projects/${project.id}/${movers === undefined ? 'keywords' : 'movers'}`;
  const { sort: _sort, ...unsorted } = parameters;
  const paging = { limit: PAGE_SIZE, offset: view.get('offset') };
  const asked = movers === undefined ? parameters : { ...unsorted, kind: 'keywords', ...movers };
  const days = movers === undefined ? { daily: 1, interval: sparklineInterval(view) } : {};
  const { data, error, isLoading, reload } = useResource<KeywordsAnswer>(
    apiPath(path, { ...asked, ...days, ...paging }),
  );
  const isFiltered = parameters['filter'] !== '' || parameters['group'] !== '';
  return (
    <>
      {error && <ErrorBox error={error} retry={reload} />}
      {data?.range.clamped && (
        <p class="muted clamped">
          Keywords go back to {formatDate(data.range.from)} on this plan; earlier days are not in these numbers.
        </p>
      )}
      {data && <ListHead csv={apiPath(`${path}.csv`, asked)}>{plural(data.paging.total, 'keyword')}</ListHead>}
      {data?.paging.total === 0 ? (
        <Empty title={movers && !isFiltered ? 'No keywords changed in this way' : 'No keyword matches'}>
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
            cellHeadings={movers === undefined ? ['Trend', 'Latest', 'Best'] : []}
            rows={data?.keywords.map((keyword) => keywordRow(keyword, project, targets))}
            isStale={isLoading}
            defaultSort="-clicks"
            isByChange={movers !== undefined}
          />
        )
      )}
      {data && <Pager paging={data.paging} />}
    </>
  );
}

function keywordRow(keyword: Keyword, project: Project, targets: Tracker['targets']): MetricRow {
  const { id, query, metrics, daily } = keyword;
  const ranking = (daily ?? []).filter(({ position }) => position !== null);
  const latest = ranking.at(-1);
  const best = ranking.reduce<typeof latest>(
    (found, day) => (found && found.position! <= day.position! ? found : day),
    undefined,
  );
  return {
    key: id,
    metrics: { ...metrics, ...comparedOf(keyword) },
    name: (
      <KeywordName
        id={id}
        query={query}
        project={project}
        target={targets[id]}
        isRanking={metrics.impressions !== null && metrics.impressions > 0}
      />
    ),
    cells:
      daily === undefined
        ? []
        : [
            <Sparkline
              key="position"
              values={daily.map(({ position }) => position)}
              width={110}
              height={26}
              inverted
              label={`Position of ${query} over the days of the range`}
            />,
            <PositionOn key="latest" day={latest} />,
            <PositionOn key="best" day={best} />,
          ],
  };
}

function PositionOn({ day }: { day: { date: string; position: number | null } | undefined }) {
  return <span title={day && formatDate(day.date)}>{formatMetric('position', day?.position)}</span>;
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
