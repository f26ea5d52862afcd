import { useEffect, useState } from 'preact/hooks';
import { ApiError, isManager, request, useResource } from '../lib/api.ts';
import { formatAgo, formatInstant } from '../lib/dates.ts';
import { plural } from '../lib/format.ts';
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
  useEffect(() => {
    document.title = 'Keys · Ordinate';
  }, []);
  const { data, error, isLoading, reload } = useResource<{ keys: readonly Key[] }>(isManager.value ? '/keys' : null);
  const [problem, setProblem] = useState<ApiError>();
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
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    setProblem(undefined);
    try {
      await work();
      reload();
    } catch (failed) {
      setProblem(failed instanceof ApiError ? failed : new ApiError(0, 'unknown', String(failed), null));
    }
  };
  const create = (name: string): Promise<void> =>
    attempt(async () => {
      const body = JSON.stringify({ name });
      setMade(await request('/keys', { method: 'POST', headers: { 'content-type': 'application/json' }, body }));
    });
  const revoke = (key: Key): Promise<void> =>
    attempt(async () => {
      if (!confirm(`Revoke the key '${key.name}'? Whatever uses it stops working at once, for good.`)) return;
      await request(`/keys/${key.id}`, { method: 'DELETE' });
    });
  const keys = data?.keys ?? [];
  const active = keys.filter((key) => stateOf(key) === 'active');
  return (
    <>
      <PageHead title="Keys" subtitle={data && `${plural(active.length, 'active key')} of at most 20`} />
      {(problem ?? error) && <ErrorBox error={(problem ?? error)!} />}
      {made && (
        <div class="notice notice-good" role="status">
          <p>
            The key <strong>{made.name}</strong>, shown this once: <code class="command">{made.key}</code>
          </p>
        </div>
      )}
      <NewKey onCreate={create} />
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
                      <button type="button" class="button" onClick={() => void revoke(key)}>
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

function NewKey({ onCreate }: { onCreate: (name: string) => Promise<void> }) {
  const [name, setName] = useState('');
  return (
    <form
      class="inline-form"
      onSubmit={(event) => {
        event.preventDefault();
        void onCreate(name.trim()).then(() => setName(''));
      }}
    >
      <label for="key-name">New key</label>
      <input
        id="key-name"
        required
        maxLength={100}
        placeholder="Name, for example: BI export"
        value={name}
        onInput={(event) => setName(event.currentTarget.value)}
      />
      <button type="submit" class="button button-main">
        Create
      </button>
    </form>
  );
}
