import { isOtherEngine } from '../../../model/surfaces.ts';
import { apiPath, useResource } from '../lib/api.ts';
import { formatDate } from '../lib/dates.ts';
import { formatCount } from '../lib/format.ts';
import type { Project, SurfacesAnswer } from '../lib/types.ts';
import { compareParameter, rangeParameters, surfaceOf, surfaceParameters, useView, type View } from '../lib/view.ts';
import { Change, NumberHeading, Value } from './numbers.tsx';
import { TYPE_NAMES } from './view-chips.tsx';

/** Null where the path depends on a project that is not known yet. */
export function surfacesPath(id: string, view: View, project: Project | undefined): string | null {
  const compare = compareParameter(view, project);
  return compare === undefined
    ? null
    : apiPath(`/projects/${id}/surfaces`, { ...rangeParameters(view, project), compare });
}

/** The search types of a project, each with its numbers and its view; nothing if it has only web. */
export function Surfaces({ project }: { project: Project }) {
  const view = useView();
  const { data } = useResource<SurfacesAnswer>(surfacesPath(project.id, view, project));
  if (data === undefined || data.surfaces.length < 2) return null;
  const ai = data.surfaces.filter(({ type }) => type === 'ai');
  return (
    <section class="card surfaces" aria-label="Surfaces">
      <header>
        <h2>Surfaces</h2>
        <p class="muted">Each is counted separately: impressions and positions of two of them cannot be compared.</p>
      </header>
      <table class="metric-table">
        <thead>
          <tr>
            <th scope="col">Surface</th>
            <NumberHeading>Clicks</NumberHeading>
            <NumberHeading>Impressions</NumberHeading>
            <NumberHeading>Position</NumberHeading>
          </tr>
        </thead>
        <tbody>
          {data.surfaces.map((row) => {
            if (row.type === 'ai') return null;
            const surface = surfaceOf(row);
            return (
              <tr key={surface}>
                <th scope="row" class="name">
                  <a
                    href={view.with({
                      ...surfaceParameters(surface),
                      ...(isOtherEngine(surface) && { country: null }),
                      device: null,
                      offset: null,
                    })}
                    {...(view.type === surface ? { 'aria-current': 'true' } : {})}
                  >
                    {TYPE_NAMES[surface] ?? surface}
                  </a>
                </th>
                <td class="number">
                  <Value metric="clicks" value={row.clicks} />{' '}
                  <Change metric="clicks" row={row} isExplained={surface === view.type} />
                </td>
                <td class="number">
                  <Value metric="impressions" value={row.impressions} />
                </td>
                <td class="number">
                  <Value metric="position" value={row.position} />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {ai.map(({ engine, aiImpressions = null, citations = null, firstDay, lastDay }) => (
        <p key={engine} class="muted ai-answers">
          {engine === 'google'
            ? `In Google's AI answers: ${counted(aiImpressions)} impressions`
            : `In AI answers of Bing and its partners: ${counted(citations)} citations`}
          . Imported days: {formatDate(firstDay)} to {formatDate(lastDay)}.
        </p>
      ))}
    </section>
  );
}

/** What is not stored is unknown. */
function counted(value: number | null): string {
  return value === null ? 'unknown' : formatCount(value);
}
