import { formatAgo, formatDate } from '../lib/dates.ts';
import { formatCount, plural } from '../lib/format.ts';
import type { Home } from '../lib/home.ts';
import { shownHost } from '../lib/hosts.ts';

/** Alerts that are shown before the others are asked for. */
const FEW = 4;
/** Projects whose other alerts are linked. */
const FEW_PROJECTS = 5;

interface OpenAlertsProps {
  readonly home: Home;
  /** Null at the first visit. */
  readonly visited: Date | null;
  /** The domains of projects by their ids. */
  readonly domains: ReadonlyMap<string, string>;
}

/** What is open in all projects, and what is new since the last visit. */
export function OpenAlerts({ home, visited, domains }: OpenAlertsProps) {
  const open = home.counts.reduce((sum, counts) => sum + counts.open, 0);
  const fresh = home.counts.reduce((sum, counts) => sum + counts.fresh, 0);
  const order = ['critical', 'warning', 'info'];
  const shown = home.alerts.toSorted((a, b) => order.indexOf(a.severity) - order.indexOf(b.severity)).slice(0, FEW);
  const more = home.counts
    .map(({ project, open }) => ({ project, count: open - shown.filter((alert) => alert.project === project).length }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count);
  return (
    <section class="alert-strip card home-alerts" aria-label="Open alerts of all projects">
      <p class="muted">
        {open === 0 ? 'No alert is open' : `${plural(open, 'open alert')}`}
        {visited !== null &&
          `. Since your last visit ${formatAgo(visited.toISOString())}: ${freshText(fresh, home.notes)}`}
      </p>
      {shown.length > 0 && (
        <ul>
          {shown.map(({ id, project, kind, severity, title, date }) => (
            <li key={id}>
              <span class={`pill severity-${severity}`}>{kind}</span>
              <a href={`/app/p/${project}/alerts?alert=${id}`}>{title}</a>
              <span class="muted">
                {shownHost(domains.get(project) ?? project)}
                {date !== null && `, ${formatDate(date)}`}
              </span>
            </li>
          ))}
        </ul>
      )}
      {more.length > 0 && (
        <p class="muted more-alerts">
          {formatCount(open - shown.length)} more:{' '}
          {more.slice(0, FEW_PROJECTS).map(({ project, count }, index) => (
            <span key={project}>
              {index > 0 && ', '}
              <a href={`/app/p/${project}/alerts`}>
                {shownHost(domains.get(project) ?? project)} {formatCount(count)}
              </a>
            </span>
          ))}
          {more.length > FEW_PROJECTS && ` and ${plural(more.length - FEW_PROJECTS, 'other project')}`}
        </p>
      )}
    </section>
  );
}

function freshText(alerts: number, notes: number): string {
  if (alerts === 0 && notes === 0) return 'nothing new';
  const parts = [
    ...(alerts > 0 ? [plural(alerts, 'new alert')] : []),
    ...(notes > 0 ? [plural(notes, 'new note')] : []),
  ];
  return parts.join(', ');
}
