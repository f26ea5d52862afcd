import { useState } from 'preact/hooks';
import { isManager, useResource } from '../lib/api.ts';
import { formatAgo, formatInstant } from '../lib/dates.ts';
import { send, useForm, useWork } from '../lib/form.ts';
import { plural } from '../lib/format.ts';
import { Problem, Secret, useTitle } from '../parts/form.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { Empty, ErrorBox, Skeleton } from '../parts/states.tsx';

interface Key {
  readonly id: string;
  readonly name: string;
  readonly prefix: string;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly lastUsedAt: string | null;
  /** Ids of the projects that it may read; null: all. */
  readonly projects: readonly string[] | null;
  readonly revokedAt: string | null;
}

/** The API keys of the workspace, for its owners and admins. */
export function Keys() {
  useTitle('Keys');
  const { data, error, isLoading, reload } = useResource<{ keys: readonly Key[] }>(isManager.value ? '/keys' : null);
  const work = useWork();
  const [made, setMade] = useState<{ name: string; key: string }>();
  if (!isManager.value) {
    return (
      <Empty title="Only owners and admins manage keys">
        <p>
          Sign in by a link of <code>ordinate login</code>.
        </p>
      </Empty>
    );
  }
  const revoke = (key: Key): void => {
    if (!confirm(`Revoke the key '${key.name}'? Whatever uses it stops working at once, for good.`)) return;
    void work.run(async () => {
      await send('DELETE', `/keys/${key.id}`);
      reload();
    });
  };
  const keys = data?.keys ?? [];
  const active = keys.filter((key) => stateOf(key) === 'active');
  return (
    <>
      <PageHead title="Keys" subtitle={data && `${plural(active.length, 'active key')} of at most 20`} />
      {error && <ErrorBox error={error} retry={reload} />}
      <Problem problem={work.problem} />
      {made && <Secret label={`The key "${made.name}" was created.`} value={made.key} />}
      <NewKey
        onMade={(key) => {
          setMade(key);
          reload();
        }}
      />
      {isLoading && <Skeleton lines={4} height={44} />}
      {data && (
        <div class="card table-card">
          <table class="keys">
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col">Begins with</th>
                <th scope="col">Created</th>
                <th scope="col">Last used</th>
                <th scope="col">Expires</th>
                <th scope="col">Projects</th>
                <th scope="col">
                  <span class="sr-only">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {keys.map((key) => (
                <tr key={key.id} class={stateOf(key) === 'active' ? '' : 'is-off'}>
                  <td>{key.name}</td>
                  <td>
                    <code>{key.prefix}…</code>
                  </td>
                  <td data-label="Created">{formatInstant(key.createdAt)}</td>
                  <td data-label="Last used">{key.lastUsedAt === null ? 'never' : formatAgo(key.lastUsedAt)}</td>
                  <td data-label="Expires">{key.expiresAt === null ? 'never' : formatInstant(key.expiresAt)}</td>
                  <td data-label="Projects" title={key.projects?.join(', ')}>
                    {key.projects === null
                      ? 'all'
                      : key.projects.length <= 3
                        ? key.projects.join(', ')
                        : key.projects.length}
                  </td>
                  <td class="actions">
                    {stateOf(key) === 'active' ? (
                      <button type="button" class="button" disabled={work.isBusy} onClick={() => revoke(key)}>
                        Revoke<span class="sr-only"> {key.name}</span>
                      </button>
                    ) : (
                      stateOf(key)
                    )}
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

/** A key that has expired answers nothing, as one that was revoked. */
function stateOf({ revokedAt, expiresAt }: Key): 'active' | 'expired' | 'revoked' {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && Date.parse(expiresAt) <= Date.now() ? 'expired' : 'active';
}

function NewKey({ onMade }: { onMade: (made: { name: string; key: string }) => void }) {
  const form = useForm({ name: '' }, { draft: '/keys', secrets: [] });
  const create = (): Promise<boolean> =>
    form.save(async (submitted) => {
      onMade(await send('POST', '/keys', { name: form.values.name.trim() }, submitted));
      form.reset();
    });
  return (
    <>
      <form
        class="inline-form"
        onSubmit={(event) => {
          event.preventDefault();
          void create();
        }}
      >
        <label for="key-name">New key</label>
        <input
          id="key-name"
          required
          maxLength={100}
          placeholder="Name, for example: BI export"
          value={form.values.name}
          onInput={(event) => form.set({ name: event.currentTarget.value })}
        />
        <button type="submit" class="button button-main" disabled={form.isBusy}>
          Create
        </button>
      </form>
      <Problem problem={form.problem} />
    </>
  );
}
