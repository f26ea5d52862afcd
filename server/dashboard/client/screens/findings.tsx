import { apiPath, isManager, useResource } from '../lib/api.ts';
import { formatDateOf, formatRange, withDates } from '../lib/dates.ts';
import { byGain, daysOf, FINDING_TYPES, gainText, keyOf, testedText } from '../lib/findings.ts';
import { onSingleClick, send, useWork } from '../lib/form.ts';
import { formatFinePercent, plural } from '../lib/format.ts';
import type { Finding, FindingsAnswer, Project } from '../lib/types.ts';
import { useAsk } from '../lib/use-project.ts';
import { rangeParameters, useScreenLink, useView } from '../lib/view.ts';
import { Select } from '../parts/controls.tsx';
import { CopyButton } from '../parts/copy.tsx';
import { ListHead } from '../parts/data-table.tsx';
import { Problem } from '../parts/form.tsx';
import { PeriodSelect } from '../parts/period.tsx';
import { ProjectScreen } from '../parts/project-screen.tsx';
import { Empty, ErrorBox, Skeleton } from '../parts/states.tsx';
import { shortUrl } from '../parts/top-rows.tsx';
import { ChipBar } from '../parts/view-chips.tsx';

/** The most that the API answers at once. */
const MOST = 1000;
/** Findings that are shown at first. */
const FEW = 30;

/** What differs from what the site usually does, and what is worth doing: what would gain most first. */
export function Findings() {
  const view = useView();
  const type = FINDING_TYPES.find(([name]) => name === view.get('type'))?.[0] ?? null;
  const isShowingDismissed = view.get('dismissed') === 'yes';
  const parametersFor = (project: Project | undefined) => ({
    ...rangeParameters(view, project),
    type,
    country: view.country,
    dismissed: isShowingDismissed ? 1 : null,
    limit: MOST,
  });
  useAsk(view, (id, project) => [apiPath(`/projects/${id}/findings`, parametersFor(project))]);
  return (
    <ProjectScreen
      title="Findings"
      controls={(project) => (
        <>
          <PeriodSelect project={project} />
          <Select
            label="Type"
            value={type ?? ''}
            options={[['', 'All types'], ...FINDING_TYPES.map(([name, text]) => [name, text] as const)]}
            onChange={(chosen) => view.change({ type: chosen, rows: null })}
          />
          <CopyButton path={`/projects/${project.id}/findings`} parameters={parametersFor(project)} />
        </>
      )}
    >
      {(project) => (
        <>
          <ChipBar by={['day', 'country']} />
          <Listed project={project} parameters={parametersFor(project)} />
        </>
      )}
    </ProjectScreen>
  );
}

interface ListedProps {
  readonly project: Project;
  readonly parameters: Readonly<Record<string, string | number | null>>;
}

function Listed({ project, parameters }: ListedProps) {
  const view = useView();
  const { data, error, isLoading, reload } = useResource<FindingsAnswer>(
    apiPath(`/projects/${project.id}/findings`, parameters),
  );
  if (error && data === undefined) return <ErrorBox error={error} retry={reload} />;
  if (data === undefined) return <Skeleton lines={6} height={72} />;
  const { findings, dismissed, range, paging, q } = data;
  const all = byGain(findings);
  const shown = view.get('rows') === 'more' ? all : all.slice(0, FEW);
  const isShowingDismissed = parameters['dismissed'] !== null;
  return (
    <div class={`explain ${isLoading ? 'is-stale' : ''}`}>
      {error && <ErrorBox error={error} retry={reload} />}
      {all.length === 0 && <Nothing answer={data} type={parameters['type']} />}
      {all.length > 0 && (
        <section aria-label="Findings">
          <ListHead csv={apiPath(`/projects/${project.id}/findings.csv`, { ...parameters, limit: null })}>
            {plural(paging.total, 'finding')}, {formatRange(range)}. Of those that are tests, at most about{' '}
            {formatFinePercent(q)} are expected to be false.
            {paging.total > all.length && ` The first ${all.length} are shown.`}
          </ListHead>
          <ul class="alerts card">
            {shown.map((finding) => (
              <Item key={keyOf(finding)} finding={finding} project={project} answer={data} onChange={reload} />
            ))}
          </ul>
        </section>
      )}
      <p class="actions">
        {shown.length < all.length && (
          <a class="button" href={view.with({ rows: 'more' })}>
            Show all {all.length}
          </a>
        )}
        {(dismissed > 0 || isShowingDismissed) && (
          <a class="button" href={view.with({ dismissed: isShowingDismissed ? null : 'yes' })}>
            {isShowingDismissed ? 'Hide dismissed' : `Show ${dismissed} dismissed`}
          </a>
        )}
      </p>
      <Tested answer={data} />
    </div>
  );
}

interface ItemProps {
  readonly finding: Finding;
  readonly project: Project;
  readonly answer: FindingsAnswer;
  readonly onChange: () => void;
}

function Item({ finding, project, answer: { range }, onChange }: ItemProps) {
  const link = useScreenLink();
  const work = useWork();
  const { type, page, query, text, gain, dismissal, dismissedAt, dismissedBy } = finding;
  const path = `/projects/${project.id}/findings/dismissed`;
  const { from, to, country } = range;
  const dismiss = (): Promise<boolean> =>
    work.run(async (submitted) => {
      if (dismissal !== undefined) await send('DELETE', `${path}/${dismissal}`);
      else await send('POST', path, { type, page, query, from, to, ...(country && { country }) }, submitted);
      onChange();
    });
  const href = link(`/app/p/${project.id}/${page === undefined ? 'queries' : 'pages'}/one`, {
    of: page ?? query!,
    period: null,
    ...daysOf(finding, range),
  });
  return (
    <li class={`finding ${dismissal === undefined ? '' : 'is-resolved'}`}>
      <div class="finding-head">
        <span class="pill">{FINDING_TYPES.find(([name]) => name === type)?.[1] ?? type}</span>
        <a class="alert-title" dir="auto" href={href} title={page}>
          {page === undefined ? query : shortUrl(page, project.domain)}
        </a>
        {gain !== null && <strong class="gain">{gainText(gain)}</strong>}
      </div>
      <p dir="auto">{withDates(text)}</p>
      <p class="muted finding-foot">
        {dismissal !== undefined && (
          <span>
            Dismissed by {dismissedBy} on {formatDateOf(dismissedAt!)}, until it changes materially
          </span>
        )}
        {isManager.value && (
          <button
            type="button"
            class="button"
            disabled={work.isBusy}
            title={dismissal === undefined ? 'Hides it for everybody until it changes materially' : undefined}
            onClick={onSingleClick(() => void dismiss())}
          >
            {dismissal === undefined ? 'Dismiss' : 'List again'}
            <span class="sr-only"> {page ?? query}</span>
          </button>
        )}
      </p>
      <Problem problem={work.problem} />
    </li>
  );
}

/** That nothing was found is a result, unless nothing could be tested. */
function Nothing({ answer: { tested, dismissed }, type }: { answer: FindingsAnswer; type: unknown }) {
  const isTested = FINDING_TYPES.some(
    ([name]) => (type === null || type === name) && tested[name].reason === undefined,
  );
  return (
    <Empty title={isTested ? 'Nothing out of the ordinary' : 'Nothing could be tested'}>
      <p>
        {isTested
          ? 'Nothing found is a result: what moved is within what rows of this site usually do. Smaller changes than chance makes are not listed.'
          : 'Each test says below what it lacks.'}
        {dismissed > 0 && ` ${plural(dismissed, 'finding')} of these days ${dismissed === 1 ? 'is' : 'are'} dismissed.`}
      </p>
    </Empty>
  );
}

/** What was looked at, and why not more. */
function Tested({ answer: { tested } }: { answer: FindingsAnswer }) {
  return (
    <section class="card breakdown" aria-labelledby="tested">
      <h2 id="tested">What was looked at</h2>
      <dl class="tested">
        {FINDING_TYPES.map(([type, name, what]) => (
          <div key={type}>
            <dt>
              {name} <span class="muted">{what}</span>
            </dt>
            <dd>{testedText(tested[type])}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
