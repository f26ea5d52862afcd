import { useEffect, useState } from 'preact/hooks';
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

  const signIn = async (secret: string): Promise<void> => {
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
    }
  };
  useEffect(() => {
    document.title = 'Sign in · Ordinate';
    const token = path === '/app/sign-in' ? takeLinkToken() : '';
    if (token !== '') void signIn(token);
  }, []);

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
