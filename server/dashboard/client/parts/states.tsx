import type { ComponentChildren } from 'preact';
import type { ApiError } from '../lib/api.ts';
import { Icon } from './icons.tsx';

/** What to do about an error, by its code. */
const ADVICE: Readonly<Record<string, string>> = {
  rate_limited: 'This page tries again automatically.',
  unavailable: 'This page tries again automatically; lists of large sites can take a minute.',
  google_access_lost:
    'Connect the Google account again on the page Connect, or give the service account access to the property again.',
  bing_access_lost:
    'Replace the key on the page Connect, or verify the site in Bing Webmaster Tools with the account of the key.',
  plan_required: 'Put the workspace on a paid plan: `ordinate workspaces create --help` names them.',
  not_found: 'The address may be old, or belong to another workspace.',
  server_error: 'The log of the server says more.',
  forbidden: 'Open the dashboard over HTTPS, or over HTTP at localhost.',
};

/** An error in words, with what to do about it. */
export function ErrorBox({ error, retry }: { error: ApiError; retry?: (() => void) | undefined }) {
  if (error.isLasting) return <WithoutSource message={error.message} />;
  return (
    <div class="notice notice-error" role="alert">
      <Icon name="warning" />
      <div>
        <p>{error.message}</p>
        {ADVICE[error.code] && <p class="muted">{ADVICE[error.code]}</p>}
      </div>
      {retry && (
        <button type="button" class="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

/** A list that nothing fills yet is an ordinary state, and what fills it can be done. */
function WithoutSource({ message }: { message: string }) {
  return (
    <div class="notice">
      <Icon name="info" />
      <div>
        <p>{message}</p>
        <p class="muted">
          <a href="/app/connect">Connect the property to Search Console or Bing</a>, or load files with queries and
          pages (<code>ordinate load --help</code>).
        </p>
      </div>
    </div>
  );
}

/** Why there is nothing here, and how to get something. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** A command that can be copied by hand. */
export function Command({ children }: { children: string }) {
  return <code class="command">{children}</code>;
}

export function Missing() {
  return (
    <Empty title="There is nothing at this address">
      <p>
        <a href="/app">Go to your projects</a>
      </p>
    </Empty>
  );
}

/** Grey lines in the place of what is awaited. */
export function Skeleton({ lines = 3, height }: { lines?: number; height?: number }) {
  return (
    <div class="skeletons" aria-hidden="true">
      {Array.from({ length: lines }, (_, index) => (
        <div key={index} class="skeleton" style={height === undefined ? undefined : { height: `${height}px` }} />
      ))}
    </div>
  );
}
