import { useState } from 'preact/hooks';
import { useResource } from '../lib/api.ts';
import { countDays, formatDate, formatRange, formatSpan, yesterday } from '../lib/dates.ts';
import { ADVICE, effectPath, effectScreen, type Judged } from '../lib/effect.ts';
import { signed } from '../lib/explain.ts';
import { formatCount, formatFinePercent, formatPercent, plural } from '../lib/format.ts';
import type { EffectsAnswer, Project } from '../lib/types.ts';
import { useAsk } from '../lib/use-project.ts';
import { useView, type View } from '../lib/view.ts';
import { Select } from '../parts/controls.tsx';
import { CopyButton } from '../parts/copy.tsx';
import { Detectable } from '../parts/detectable.tsx';
import { EffectChart } from '../parts/effect-chart.tsx';
import { ProjectScreen } from '../parts/project-screen.tsx';
import { ErrorBox, Skeleton } from '../parts/states.tsx';
import { shortUrl } from '../parts/top-rows.tsx';

/** The lengths of windows to choose from; the first one is usual. */
const LENGTHS = [
  ['before', [56, 28, 91, 182]],
  ['settle', [7, 0, 14, 28]],
  ['after', [28, 7, 14, 56, 91]],
] as const;
const LENGTH_NAMES = { before: 'before', settle: 'left out', after: 'judged' } as const;
const SUBJECTS = ['page', 'pageGroup', 'keyword', 'group'];

/** Whether a change helped: clicks after it against those that unchanged pages or keywords make expect. */
export function Effect() {
  const view = useView();
  const judged = judgedOf(view);
  useAsk(view, (id) => [judged === undefined ? null : effectPath(id, judged)]);
  return (
    <ProjectScreen
      title="Effect"
      isViewed={false}
      controls={(project) =>
        judged && (
          <>
            {LENGTHS.map(([name, lengths]) => (
              <Select
                key={name}
                label={`Days ${LENGTH_NAMES[name]}`}
                value={view.get(name) || `${lengths[0]}d`}
                options={lengths.map((days) => [`${days}d`, `${days} days ${LENGTH_NAMES[name]}`] as const)}
                onChange={(chosen) => view.change({ [name]: chosen === `${lengths[0]}d` ? null : chosen })}
              />
            ))}
            <CopyButton path={`/projects/${project.id}/effects`} parameters={judged} />
          </>
        )
      }
    >
      {(project) => (judged ? <Judgement project={project} judged={judged} /> : <Question project={project} />)}
    </ProjectScreen>
  );
}

/** What the address asks about; undefined if it names no change. */
function judgedOf(view: View): Judged | undefined {
  const lengths = Object.fromEntries(LENGTHS.map(([name]) => [name, view.get(name) || null]));
  const note = view.get('note');
  if (note !== '') return { note, ...lengths };
  const kind = SUBJECTS.find((name) => view.get(name) !== '');
  const date = view.get('date');
  return kind === undefined || date === '' ? undefined : { date, [kind]: view.get(kind), ...lengths };
}

/** Asks for a day and a page, also of a change that is only planned. */
function Question({ project }: { project: Project }) {
  const view = useView();
  const [date, setDate] = useState(view.get('date') || yesterday());
  const [page, setPage] = useState('');
  return (
    <form
      class="card form"
      onSubmit={(event) => {
        event.preventDefault();
        view.change({ date, page });
      }}
    >
      <div class="fields">
        <label class="field">
          Day of the change
          <input type="date" required value={date} onInput={(event) => setDate(event.currentTarget.value)} />
        </label>
        <label class="field">
          Page
          <input
            type="url"
            required
            placeholder="https://…"
            value={page}
            onInput={(event) => setPage(event.currentTarget.value)}
          />
        </label>
      </div>
      {URL.canParse(page) && <Detectable project={project.id} date={date} of={{ page }} />}
      <div class="form-buttons">
        <button type="submit" class="button button-main">
          Judge
        </button>
      </div>
    </form>
  );
}

function Judgement({ project, judged }: { project: Project; judged: Judged }) {
  const { data, error, isLoading, reload } = useResource<EffectsAnswer>(effectPath(project.id, judged));
  if (error && data === undefined) return <ErrorBox error={error} retry={reload} />;
  if (data === undefined) return <Skeleton lines={2} height={280} />;
  return (
    <div class={`effect ${isLoading ? 'is-stale' : ''}`}>
      {error && <ErrorBox error={error} retry={reload} />}
      <Result answer={data} project={project} />
      <Compared answer={data} />
      <Limits answer={data} />
      <SameDays answer={data} project={project} />
    </div>
  );
}

function Result({ answer, project }: { answer: EffectsAnswer; project: Project }) {
  const { subject, windows, effect } = answer;
  const { before, settle, after } = windows;
  return (
    <section class="card breakdown">
      <h2 dir="auto">
        {shortUrl(subject.name, project.domain)}, changed on {formatDate(subject.date)}
      </h2>
      <p class={`verdict verdict-${answer.verdict}`}>{answer.text}</p>
      {effect && <Numbers effect={effect} />}
      <EffectChart answer={answer} />
      <p class="muted hint">
        {formatRange(before)} says what was usual
        {settle && `, ${formatRange(settle)} is left out, until search engines have noticed the change`}, and{' '}
        {formatRange(after)} is judged.
      </p>
    </section>
  );
}

function Numbers({ effect }: { effect: NonNullable<EffectsAnswer['effect']> }) {
  const { actual, expected, difference, low, high, p } = effect;
  // The answer's numbers are rounded already and shown as they are; the percentage is made of those beside it.
  const change = expected === 0 ? '' : ` (${signedBy(difference, formatPercent(Math.abs(difference) / expected))})`;
  const rows = [
    ['Clicks after the change', formatCount(actual)],
    ['Expected without it', formatCount(expected)],
    ['Difference', `${signed(difference)}${change}`],
    ['Interval of 95%', low === null ? '–' : `${signedPercent(low)} to ${signedPercent(high!)}`],
    ['How often nothing looks like this (p)', p === null ? '–' : String(p)],
  ];
  return (
    <table class="effect-numbers">
      <caption class="sr-only">The effect in numbers</caption>
      <tbody>
        {rows.map(([name, value]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td class="number">{value}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** What the clicks were compared with, and how often nothing looks like something. */
function Compared({ answer: { control, placebo, subject } }: { answer: EffectsAnswer }) {
  if (control === null && placebo.count === 0) return null;
  const kind = subject.pages === undefined ? 'keyword' : 'page';
  return (
    <section class="card breakdown">
      <h2>What it is compared with</h2>
      <ul class="hint">
        {control && (
          <li>
            {plural(control.members, `unchanged ${kind}`)} of this project, those with most clicks before the change.
            Without a change, clicks differed from what they make expect by {formatFinePercent(control.error)}.
          </li>
        )}
        {placebo.count > 0 && (
          <li>
            {plural(placebo.count, 'placebo')}: the same comparison where and when nothing was changed.{' '}
            {formatFinePercent(placebo.falseAlarmRate)} of them would be called an effect.
          </li>
        )}
      </ul>
    </section>
  );
}

/** What cannot be said, and why. */
function Limits({ answer }: { answer: EffectsAnswer }) {
  const { reasons, detectable, windows, verdict, events } = answer;
  const isFound = verdict === 'more' || verdict === 'fewer';
  return (
    <section class="card breakdown">
      <h2>What cannot be said</h2>
      <ul class="hint">
        {reasons.map((reason) => (
          <li key={reason}>{ADVICE[reason] ?? reason}</li>
        ))}
        {verdict === 'interim' && (
          <li>
            Whether it helped: the days to judge end on {formatDate(windows.after.to)}, and are final some days later.
          </li>
        )}
        {detectable && !isFound && (
          <li>
            Whether it had an effect under {formatFinePercent(detectable.ratio)}: within{' '}
            {plural(countDays(windows.after), 'day')}, a smaller one would be missed here in more than one of five
            cases.
          </li>
        )}
        {isFound && (
          <li>
            That the change is the cause: the difference also has whatever else happened to these pages or keywords
            alone. One of twenty changes without an effect looks like this by chance.
          </li>
        )}
        {events.some(({ kind }) => kind === 'ranking') && (
          <li>Whether a ranking update did it: it reached what is compared with too, but not all alike.</li>
        )}
      </ul>
    </section>
  );
}

/** Ranking updates, changes of counting and other notes within the windows. */
function SameDays({ answer: { events, notes }, project }: { answer: EffectsAnswer; project: Project }) {
  if (events.length + notes.length === 0) return null;
  return (
    <section class="card breakdown">
      <h2>In the same days</h2>
      <ul class="hint">
        {events.map(({ kind, title, from, to, source }) => (
          <li key={title}>
            {kind === 'ranking' ? 'Ranking update' : 'Change of counting'}, {formatSpan({ from, to })}:{' '}
            <a href={source} rel="noreferrer" target="_blank">
              {title}
            </a>
          </li>
        ))}
        {notes.map(({ id, date, text, page, keyword, group, scope }) => (
          <li key={id}>
            Note, {formatDate(date)},{' '}
            {page === null ? (keyword?.query ?? group?.name ?? 'everything') : shortUrl(page, project.domain)}:{' '}
            {scope === 'project' || scope === 'workspace' ? (
              <span dir="auto">{text}</span>
            ) : (
              <a href={effectScreen(project.id, { note: id })} dir="auto">
                {text}
              </a>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function signedPercent(ratio: number): string {
  return signedBy(ratio, formatFinePercent(Math.abs(ratio)));
}

function signedBy(value: number, size: string): string {
  return `${value < 0 ? '−' : '+'}${size}`;
}
