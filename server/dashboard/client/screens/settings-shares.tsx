import { useState } from 'preact/hooks';
import { useResource } from '../lib/api.ts';
import { formatInstant } from '../lib/dates.ts';
import { send, useForm, useWork } from '../lib/form.ts';
import type { Project } from '../lib/types.ts';
import { Form, ItemList, ManyField, Problem, RemoveButton, Secret, TextField } from '../parts/form.tsx';
import { Section } from '../parts/settings-parts.tsx';
import { ErrorBox, Skeleton } from '../parts/states.tsx';

interface Share {
  readonly id: string;
  readonly screens: readonly string[];
  readonly hideQueries: boolean;
  readonly expiresAt: string | null;
  readonly hasPassword: boolean;
  readonly createdAt: string;
  readonly revokedAt: string | null;
}

const SCREENS = [
  ['overview', 'Overview'],
  ['breakdowns', 'Breakdowns'],
  ['pages', 'Pages'],
  ['queries', 'Queries'],
  ['keywords', 'Keywords'],
  ['alerts', 'Alerts'],
  ['notes', 'Notes that clients may see'],
] as const;

/** Links that show a part of the project to people without an account. */
export function Shares({ project }: { project: Project }) {
  const path = `/projects/${project.id}/shares`;
  const { data, error, reload } = useResource<{ shares: readonly Share[] }>(path);
  const [url, setUrl] = useState('');
  const shares = data?.shares.filter(({ revokedAt, expiresAt }) => {
    return revokedAt === null && (expiresAt === null || Date.parse(expiresAt) > Date.now());
  });
  return (
    <Section title="Shared links" add="Share" draft={path} error={error && <ErrorBox error={error} retry={reload} />}>
      {(isAdding, end) => (
        <>
          {url && <Secret label="Whoever has this address sees what was chosen." value={url} />}
          {isAdding && (
            <ShareForm
              path={path}
              onEnd={(made) => {
                end();
                if (made === undefined) return;
                setUrl(made);
                reload();
              }}
            />
          )}
          {data === undefined && !error && <Skeleton lines={2} />}
          <ItemList label="Shared links">
            {shares?.map((share) => (
              <ShareItem key={share.id} path={path} share={share} onChange={reload} />
            ))}
          </ItemList>
        </>
      )}
    </Section>
  );
}

function ShareItem({ path, share, onChange }: { path: string; share: Share; onChange: () => void }) {
  const { id, screens, hideQueries, expiresAt, hasPassword, createdAt } = share;
  const work = useWork();
  const facts = [
    ...(hideQueries ? ['without queries'] : []),
    ...(hasPassword ? ['with a password'] : []),
    expiresAt === null ? 'without an end' : `until ${formatInstant(expiresAt)}`,
  ];
  return (
    <li>
      <div class="item-head">
        <strong>{screens.join(', ')}</strong>
        <span class="muted">
          {facts.join(', ')}; made {formatInstant(createdAt)}
        </span>
        <span class="actions">
          <RemoveButton confirm="End it for good" path={`${path}/${id}`} work={work} onDone={onChange}>
            Revoke
          </RemoveButton>
        </span>
      </div>
      <Problem problem={work.problem} />
    </li>
  );
}

/** Ends with the address; with nothing if it was cancelled. */
function ShareForm({ path, onEnd }: { path: string; onEnd: (url?: string) => void }) {
  const form = useForm(
    { screens: ['overview'] as string[], hideQueries: false, expiresAt: '', password: '' },
    { draft: path, secrets: ['password'] },
  );
  const { screens, hideQueries, expiresAt, password } = form.values;
  const create = (): Promise<boolean> =>
    form.save(async (submitted) => {
      const body = { screens, hideQueries, expiresAt: expiresAt || null, password: password || null };
      onEnd((await send<{ url: string }>('POST', path, body, submitted)).url);
    });
  return (
    <Form
      form={form}
      fields={['screens', 'expiresAt', 'password']}
      submit="Make the link"
      onSubmit={() => void create()}
      onCancel={() => onEnd()}
    >
      <ManyField
        legend="What it shows"
        work={form}
        name="screens"
        options={SCREENS}
        chosen={screens}
        onChange={(next) => form.set({ screens: next })}
      />
      <ManyField
        legend="Queries"
        options={[['hide', 'Show no text of a query']]}
        chosen={hideQueries ? ['hide'] : []}
        onChange={(next) => form.set({ hideQueries: next.length > 0 })}
      />
      <div class="fields">
        <TextField form={form} name="expiresAt" label="Last day" type="date" help="It has no end without one." />
        <TextField form={form} name="password" label="Password" help="Visitors type it; none without one." />
      </div>
    </Form>
  );
}
