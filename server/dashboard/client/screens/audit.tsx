import { apiPath, isManager, useResource } from '../lib/api.ts';
import { formatInstant } from '../lib/dates.ts';
import { formatCount, plural } from '../lib/format.ts';
import { useView } from '../lib/view.ts';
import { Select } from '../parts/controls.tsx';
import { useTitle } from '../parts/form.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { Empty, ErrorBox, Skeleton } from '../parts/states.tsx';

interface Entry {
  readonly at: string;
  readonly actor: string;
  readonly action: string;
  readonly subject: string;
  readonly details: Readonly<Record<string, unknown>> | null;
}

/** The most that the server answers; older ones are read by the command line. */
const LIMIT = 1000;

/** Who did what in the workspace, the newest first. */
export function Audit() {
  useTitle('Audit trail');
  const view = useView();
  const about = view.get('about');
  const { data, error, isLoading, reload } = useResource<{ entries: readonly Entry[] }>(
    isManager.value ? apiPath('/audit', { limit: LIMIT }) : null,
  );
  if (!isManager.value) return <Empty title="Only owners and admins see the audit trail" />;
  const all = data?.entries ?? [];
  const subjects = [...new Set(all.map(({ action }) => action.split('.')[0]!))].toSorted();
  const entries = all.filter(({ action }) => about === '' || action.startsWith(`${about}.`));
  return (
    <>
      <PageHead title="Audit trail" subtitle={data && headText(entries.length, all.length)}>
        <Select
          label="About"
          value={about}
          options={[['', 'Everything'], ...subjects.map((name) => [name, name.replaceAll('_', ' ')] as const)]}
          onChange={(next) => view.change({ about: next || null })}
        />
      </PageHead>
      {error && <ErrorBox error={error} retry={reload} />}
      {isLoading && <Skeleton lines={6} />}
      {data && entries.length === 0 && (
        <Empty title={all.length === 0 ? 'Nothing was changed yet' : 'Nothing of this kind'} />
      )}
      {entries.length > 0 && (
        <div class="card table-card">
          <table class="keys audit">
            <thead>
              <tr>
                <th scope="col">When</th>
                <th scope="col">Who</th>
                <th scope="col">What</th>
                <th scope="col">Of</th>
                <th scope="col">Details</th>
              </tr>
            </thead>
            <tbody>
              {entries.map(({ at, actor, action, subject, details }, index) => (
                <tr key={index}>
                  <td data-label="When">{formatInstant(at)}</td>
                  <td data-label="Who">{actor}</td>
                  <td data-label="What">{action.replaceAll(/[._]/g, ' ')}</td>
                  <td data-label="Of" dir="auto">
                    {subject}
                  </td>
                  <td data-label="Details" dir="auto">
                    {detailsText(details)}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}

function headText(shown: number, known: number): string {
  const changes = shown === known ? plural(shown, 'change') : `${plural(shown, 'change')} of ${formatCount(known)}`;
  return known < LIMIT ? changes : `${changes}, the newest: ordinate audit list has all of them`;
}

function detailsText(details: Entry['details']): string {
  return Object.entries(details ?? {})
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join('; ')
    .slice(0, 200);
}
