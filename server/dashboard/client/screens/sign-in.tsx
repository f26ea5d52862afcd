import { useEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import icon from '../icon.svg';
import { forgetAnswers, readError, request, session, signedOutBecause } from '../lib/api.ts';
import type { Session } from '../lib/types.ts';

/** The secret of a sign-in link, taken out of the address and the history at once. */
function takeLinkToken(): string {
  const token = location.hash.slice(1);
  if (token !== '') history.replaceState(null, '', location.pathname);
  return token;
}

/** Takes a pasted key, or the secret of a sign-in link from the address. */
export function SignIn() {
  const { path, route } = useLocation();
  const [key, setKey] = useState('');
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const isRunning = useRef(false);
  const [replacing, setReplacing] = useState<{ readonly token: string; readonly now: Session } | undefined>();

  const signIn = async (secret: string): Promise<void> => {
    // A link works once.
    if (isRunning.current) return;
    isRunning.current = true;
    setBusy(true);
    setProblem('');
    try {
      const response = await fetch('/app/session', { method: 'POST', headers: { authorization: `Bearer ${secret}` } });
      if (!response.ok) throw await readError(response);
      forgetAnswers();
      const found = await request<Session>('/session');
      signedOutBecause.value = '';
      if (path === '/app/sign-in') route('/app', true);
      session.value = found;
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
      // For somebody who is signed in already, an old link changes nothing.
      setBusy(false);
    } finally {
      isRunning.current = false;
    }
  };
  useEffect(() => {
    document.title = 'Sign in · Ordinate';
    const token = path === '/app/sign-in' ? takeLinkToken() : '';
    if (token === '') return;
    // A link from elsewhere must not put somebody into another workspace unnoticed.
    fetch('/app/api/session').then(
      async (response) => {
        if (response.ok) setReplacing({ token, now: (await response.json()) as Session });
        else await signIn(token);
      },
      () => signIn(token),
    );
  }, []);

  if (replacing !== undefined) {
    const { token, now } = replacing;
    return (
      <main class="sign-in">
        <div class="card">
          <h1>You are signed in already</h1>
          <p>
            As {now.email ?? 'a key'} in {now.workspace.name}. The link replaces this session in the browser.
          </p>
          {problem && (
            <p class="problem" role="alert">
              {problem}
            </p>
          )}
          <button type="button" class="button button-main" disabled={isBusy} onClick={() => void signIn(token)}>
            Use the link
          </button>
          <a class="button" href="/app">
            Stay signed in
          </a>
        </div>
      </main>
    );
  }
  return (
    <main class="sign-in">
      <form
        class="card"
        onSubmit={(event) => {
          event.preventDefault();
          void signIn(key.trim());
        }}
      >
        <img src={icon} alt="" width="44" height="44" />
        <h1>Sign in to Ordinate</h1>
        {signedOutBecause.value && <p class="muted">{signedOutBecause.value}</p>}
        <label for="key">API key</label>
        <input
          id="key"
          type="password"
          autocomplete="current-password"
          spellcheck={false}
          placeholder="ord_live_…"
          required
          value={key}
          aria-describedby="key-help"
          aria-invalid={problem !== ''}
          onInput={(event) => setKey(event.currentTarget.value)}
        />
        {problem && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        <button type="submit" class="button button-main" disabled={isBusy}>
          {isBusy ? 'Signing in…' : 'Sign in'}
        </button>
        <p class="muted" id="key-help">
          The key stays on this server: a cookie that scripts cannot read signs you in for 12 hours. Owners can also use
          a link of <code>ordinate login</code>.
        </p>
      </form>
    </main>
  );
}
