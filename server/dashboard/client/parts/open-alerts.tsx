import { formatAgo, formatDate } from '../lib/dates.ts';
import { formatCount, plural } from '../lib/format.ts';
import type { Home } from '../lib/home.ts';
import { shownHost } from '../lib/hosts.ts';

/** Alerts that are shown before the others are asked for. */
const FEW = 4;

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
      {open > shown.length && (
        <span class="muted more-alerts">{formatCount(open - shown.length)} more; each project shows its own</span>
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
