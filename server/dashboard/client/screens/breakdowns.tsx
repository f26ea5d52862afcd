import { apiPath, useResource } from '../lib/api.ts';
import { metricOf } from '../lib/changes.ts';
import { formatDate, formatRange } from '../lib/dates.ts';
import { appearanceName, countryName, DEVICE_NAMES, formatMetric, formatShare } from '../lib/format.ts';
import { whereOf } from '../lib/question.ts';
import type { BreakdownsAnswer, Compared, Metrics, Project } from '../lib/types.ts';
import { useAsk } from '../lib/use-project.ts';
import { compareParameter, rangeParameters, surfaceParameters, useScreenLink, useView } from '../lib/view.ts';
import { CopyButton } from '../parts/copy.tsx';
import { ListHead } from '../parts/data-table.tsx';
import { Change, NumberHeading, Value } from '../parts/numbers.tsx';
import { CompareSelect, PeriodSelect } from '../parts/period.tsx';
import { ProjectScreen } from '../parts/project-screen.tsx';
import { ErrorBox, Skeleton } from '../parts/states.tsx';
import { ChipBar } from '../parts/view-chips.tsx';

/** Countries that are shown before the others are asked for. */
const FEW = 12;

/** The site by country, device, appearance and brand. */
export function Breakdowns() {
  const view = useView();
  const parametersFor = (project: Project | undefined) => ({
    ...rangeParameters(view, project),
    ...surfaceParameters(view.type),
    compare: compareParameter(view, project),
  });
  useAsk(view, (id, project) => {
    const parameters = parametersFor(project);
    return [parameters.compare === undefined ? null : apiPath(`/projects/${id}/breakdowns`, parameters)];
  });
  return (
    <ProjectScreen
      title="Breakdowns"
      controls={(project) => (
        <>
          <PeriodSelect project={project} />
          <CompareSelect project={project} />
          <CopyButton path={`/projects/${project.id}/breakdowns`} parameters={parametersFor(project)} />
        </>
      )}
    >
      {(project) => (
        <>
          <ChipBar by={['day', 'type']} />
          <Cards project={project} parameters={parametersFor(project)} />
        </>
      )}
    </ProjectScreen>
  );
}

interface BreakdownRow extends Metrics, Compared {
  readonly key: string;
  readonly name: string;
  readonly href?: string;
}

function Cards({
  project,
  parameters,
}: {
  project: Project;
  parameters: Readonly<Record<string, string | null | undefined>>;
}) {
  const view = useView();
  const link = useScreenLink();
  const { data, error, isLoading, reload } = useResource<BreakdownsAnswer>(
    apiPath(`/projects/${project.id}/breakdowns`, parameters),
  );
  if (error && data === undefined) return <ErrorBox error={error} retry={reload} />;
  if (data === undefined) return <Skeleton lines={3} height={180} />;
  const { range, brand } = data;
  const overview = `/app/p/${project.id}`;
  const countries = data.countries.map(({ country, ...row }): BreakdownRow => {
    const isOne = country !== 'other' && country !== 'zzz';
    return {
      key: country,
      name: countryName(country),
      ...row,
      ...(isOne ? { href: link(overview, { country, device: null }) } : {}),
    };
  });
  const isAll = view.get('countries') === 'all';
  const isWeb = view.type === 'web';
  const devices = data.devices.map(({ device, ...row }): BreakdownRow => {
    return {
      key: device,
      name: DEVICE_NAMES[device] ?? device,
      href: link(overview, { device, country: null }),
      ...row,
    };
  });
  const appearances = data.appearances.map(({ appearance, ...row }): BreakdownRow => {
    // An appearance is stored without its pages and queries: it leads to its days.
    const where = whereOf([['equals', 'appearance', [appearance]]]);
    const href = isWeb ? link(`${overview}/explore`, { by: 'date', where }) : undefined;
    return { key: appearance, name: appearanceName(appearance), ...(href && { href }), ...row };
  });
  return (
    <>
      <ListHead csv={apiPath(`/projects/${project.id}/breakdowns.csv`, parameters)}>{formatRange(range)}</ListHead>
      <div class={`breakdowns ${isLoading ? 'is-stale' : ''}`}>
        {error && <ErrorBox error={error} retry={reload} />}
        {brand ? <BrandSplit brand={brand} project={project} /> : <UnknownBrand />}
        <Card title="Devices" rows={devices} by="device" />
        <Card title="Countries" by="country" rows={isAll ? countries : countries.slice(0, FEW)}>
          {range.countryMonthlyThrough && range.countryMonthlyThrough >= range.from && (
            <p class="muted hint">
              Days through {formatDate(range.countryMonthlyThrough)} are stored as months of the 20 largest countries,
              and count with an even share.
            </p>
          )}
          {countries.length > FEW && (
            <a class="link-button" href={view.with({ countries: isAll ? null : 'all' })}>
              {isAll ? 'Fewer' : `All ${countries.length} countries`}
            </a>
          )}
        </Card>
        <Card title="Search appearances" rows={appearances} isOverlapping>
          {appearances.length > 0 && (
            <p class="muted hint">
              A result can have several appearances: these rows overlap and do not add up to the site.
            </p>
          )}
        </Card>
      </div>
    </>
  );
}

interface CardProps {
  readonly title: string;
  readonly rows: readonly BreakdownRow[];
  /** What explains their changes; the pages of the property otherwise. */
  readonly by?: string;
  /** Whether rows are no parts of a whole; they are ordered by impressions then. */
  readonly isOverlapping?: boolean;
  readonly children?: preact.ComponentChildren;
}

function Card({ title, rows, by, isOverlapping = false, children }: CardProps) {
  const measure = isOverlapping ? 'impressions' : 'clicks';
  const most = Math.max(1, ...rows.map((row) => row[measure]));
  const total = rows.reduce((sum, row) => sum + row.clicks, 0);
  return (
    <div class="card breakdown">
      <h2>{title}</h2>
      {rows.length === 0 ? (
        <p class="muted">No data in this period.</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        <section class="breakdown-rows" aria-label={title} tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th scope="col">
                  <span class="sr-only">Name</span>
                </th>
                <NumberHeading>Clicks</NumberHeading>
                <td class="beside" />
                <NumberHeading>Impressions</NumberHeading>
                <NumberHeading>CTR</NumberHeading>
                <NumberHeading>Position</NumberHeading>
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <tr key={row.key}>
                  <th scope="row" class="bar-cell">
                    <span class="bar" style={{ width: `${(100 * row[measure]) / most}%` }} />
                    <span class="bar-name">{row.href ? <a href={row.href}>{row.name}</a> : row.name}</span>
                  </th>
                  <td
                    class="number"
                    title={isOverlapping ? undefined : `${formatShare(row.clicks / Math.max(1, total))} of all`}
                  >
                    <Value metric="clicks" value={row.clicks} />
                  </td>
                  <td class="beside">
                    <Change metric="clicks" row={row} {...(by && { by })} />
                  </td>
                  <td class="number">
                    <Value metric="impressions" value={row.impressions} />
                  </td>
                  <td class="number">
                    <Value metric="ctr" value={metricOf('ctr', row)} />
                  </td>
                  <td class="number">
                    <Value metric="position" value={row.position} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
      {children}
    </div>
  );
}

function UnknownBrand() {
  return (
    <section class="card breakdown">
      <h2>Brand</h2>
      <p class="muted hint">
        Not known: some of these days were imported without their queries or without brand terms.
      </p>
    </section>
  );
}

/** Clicks with and without the brand's name, and those of queries that the search engine does not name. */
function BrandSplit({
  brand: { brand, nonBrand, anonymous },
  project,
}: {
  brand: NonNullable<BreakdownsAnswer['brand']>;
  project: Project;
}) {
  const link = useScreenLink();
  const queries = (branded: string): string => link(`/app/p/${project.id}/queries`, { branded });
  const parts = [
    {
      name: 'Brand',
      kind: 'brand',
      clicks: brand.clicks,
      impressions: brand.impressions,
      row: brand,
      href: queries('yes'),
    },
    {
      name: 'Not brand',
      kind: 'non-brand',
      clicks: nonBrand.clicks,
      impressions: nonBrand.impressions,
      row: nonBrand,
      href: queries('no'),
    },
    {
      name: 'Anonymous',
      kind: 'anonymous',
      clicks: anonymous.clicks,
      impressions: anonymous.impressions,
      row: null,
      href: undefined,
    },
  ];
  const total = Math.max(
    1,
    parts.reduce((sum, { clicks }) => sum + Math.max(0, clicks), 0),
  );
  return (
    <section class="card breakdown">
      <h2>Brand</h2>
      <div class="split" aria-hidden="true">
        {parts.map(({ kind, clicks }) => (
          <span key={kind} class={`split-${kind}`} style={{ flexGrow: Math.max(0, clicks) / total }} />
        ))}
      </div>
      <dl class="split-parts">
        {parts.map(({ name, kind, clicks, impressions, row, href }) => (
          <div key={kind}>
            <dt>
              <span class={`dot split-${kind}`} /> {href ? <a href={href}>{name}</a> : name}
            </dt>
            <dd>
              <strong>{formatShare(Math.max(0, clicks) / total)}</strong> of clicks
              <span class="muted">
                {formatMetric('clicks', clicks)} clicks, {formatMetric('impressions', impressions)} impressions{' '}
                {row && <Change metric="clicks" row={row} by="brand" />}
              </span>
            </dd>
          </div>
        ))}
      </dl>
      <p class="muted hint">
        Anonymous: queries that the search engine counts but does not name. They are in all totals of the site.
      </p>
    </section>
  );
}
