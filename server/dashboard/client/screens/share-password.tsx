import { useState } from 'preact/hooks';
import { readError, share } from '../lib/api.ts';

/** Asks for the password of a shared link. */
export function SharePassword({ onOpen }: { onOpen: () => void }) {
  const [password, setPassword] = useState('');
  const [problem, setProblem] = useState('');
  const send = async (): Promise<void> => {
    setProblem('');
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${share}/session`, { method: 'POST', headers, body: JSON.stringify({ password }) });
    if (response.ok) onOpen();
    else setProblem((await readError(response)).message);
  };
  return (
    <main class="sign-in">
      <form
        class="card"
        onSubmit={(event) => {
          event.preventDefault();
          send().catch(() => setProblem('The server cannot be reached.'));
        }}
      >
        <h1>This link has a password</h1>
        <label for="password">Password</label>
        <input
          id="password"
          type="password"
          autocomplete="off"
          required
          value={password}
          aria-invalid={problem !== ''}
          onInput={(event) => setPassword(event.currentTarget.value)}
        />
        {problem && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        <button type="submit" class="button button-main">
          Open
        </button>
      </form>
    </main>
  );
}
