import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useResource } from '../lib/api.ts';
import { hasDraft } from '../lib/drafts.ts';
import { linesOf, send, useForm, useWork } from '../lib/form.ts';
import type { Project } from '../lib/types.ts';
import { ChoiceField, Field, Form, Problem, TextField } from '../parts/form.tsx';
import { ErrorBox, Skeleton } from '../parts/states.tsx';

interface Property {
  readonly property: string;
  readonly permission: string;
  /** The id of the project that it has in this workspace; null: none. */
  readonly project: string | null;
}

const PERMISSIONS: Readonly<Record<string, string>> = {
  siteOwner: 'owner',
  siteFullUser: 'full',
  siteRestrictedUser: 'restricted',
};
interface PropertiesProps {
  /** The id of the grant. */
  readonly grant: string;
  readonly projects: readonly Pick<Project, 'id' | 'domain'>[];
}

/** The properties of an account, and the projects that they have or can become. */
export function Properties({ grant, projects }: PropertiesProps) {
  const path = `/connect/google/${grant}`;
  const { data, error, reload } = useResource<{ properties: readonly Property[] }>(`${path}/properties`);
  const [chosen, setChosen] = useState('');
  const isOpen = (property: string): boolean => chosen === property || hasDraft(`${path}/projects ${property}`);
  if (error) return <ErrorBox error={error} retry={reload} />;
  if (data === undefined) return <Skeleton lines={3} />;
  if (data.properties.length === 0) return <p>This account has no verified property in Search Console.</p>;
  return (
    <table class="deliveries">
      <thead>
        <tr>
          <th scope="col">Property</th>
          <th scope="col">Permission</th>
          <th scope="col">Project</th>
        </tr>
      </thead>
      <tbody>
        {data.properties.map(({ property, permission, project }) => (
          <tr key={property}>
            <td>{property}</td>
            <td>{PERMISSIONS[permission] ?? permission}</td>
            <td>
              {project !== null && (
                <ExistingProject
                  path={path}
                  property={property}
                  project={project}
                  domain={projects.find(({ id }) => id === project)?.domain ?? project}
                />
              )}
              {project === null && !isOpen(property) && (
                <button type="button" class="button" onClick={() => setChosen(property)}>
                  Create a project<span class="sr-only"> of {property}</span>
                </button>
              )}
              {project === null && isOpen(property) && (
                <NewProject path={path} property={property} onCancel={() => setChosen('')} />
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface ExistingProps {
  readonly path: string;
  readonly property: string;
  readonly project: string;
  readonly domain: string;
}

function ExistingProject({ path, property, project, domain }: ExistingProps) {
  const work = useWork();
  const [isDone, setDone] = useState(false);
  const connect = (): Promise<boolean> =>
    work.run(async (submitted) => {
      await send('POST', `${path}/projects`, { property, project }, submitted);
      setDone(true);
    });
  return (
    <>
      <a href={`/app/p/${project}/data`}>{domain}</a>{' '}
      {isDone ? (
        <span role="status">reads through this account</span>
      ) : (
        <button type="button" class="button" disabled={work.isBusy} onClick={() => void connect()}>
          Use this account<span class="sr-only"> for {domain}</span>
        </button>
      )}
      <Problem problem={work.problem} />
    </>
  );
}

function NewProject({ path, property, onCancel }: { path: string; property: string; onCancel: () => void }) {
  const { route } = useLocation();
  const form = useForm(
    { brandTerms: '', country: '', track: 'top', top: '50', queries: '' },
    { draft: `${path}/projects ${property}`, secrets: [] },
  );
  const { brandTerms, country, track, top, queries } = form.values;
  const create = (): Promise<boolean> =>
    form.save(async (submitted) => {
      const body = {
        property,
        brandTerms: linesOf(brandTerms),
        ...(country && { country: country.trim().toLowerCase() }),
        track: track === 'top' ? { top: Number(top) } : { queries: linesOf(queries) },
      };
      const made = await send<{ project: { id: string } }>('POST', `${path}/projects`, body, submitted);
      route(`/app/p/${made.project.id}/data`);
    });
  return (
    <Form
      form={form}
      fields={['brandTerms', 'country', 'track']}
      submit="Create and fill it"
      onSubmit={() => void create()}
      onCancel={onCancel}
    >
      <TextField
        form={form}
        name="brandTerms"
        label="Brand terms"
        rows={2}
        help="One per line: queries that contain one are counted as brand."
      />
      <TextField
        form={form}
        name="country"
        label="Country"
        maxLength={3}
        placeholder="all"
        help="Three letters, such as gbr: tracked queries are counted in it only."
      />
      <ChoiceField
        form={form}
        name="track"
        label="Tracked queries"
        options={[
          ['top', 'Those with most clicks'],
          ['queries', 'A list of my own'],
        ]}
      />
      {track === 'top' ? (
        <Field work={form} name="top" label="How many">
          {(attributes) => (
            <input
              {...attributes}
              type="number"
              min="0"
              max="5000"
              required
              value={top}
              onInput={(event) => form.set({ top: event.currentTarget.value })}
            />
          )}
        </Field>
      ) : (
        <TextField form={form} name="queries" label="Queries" rows={6} isRequired help="One per line." />
      )}
    </Form>
  );
}
