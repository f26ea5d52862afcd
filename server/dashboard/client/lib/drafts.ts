import { effect } from '@preact/signals';
import { useState } from 'preact/hooks';
import { session } from './api.ts';
import { ifStored } from './storage.ts';
import type { Session } from './types.ts';

/** What somebody has typed into a form and not sent: kept in the browser, so that it outlives their session. */
export interface Draft<Values> {
  /** Without secrets. */
  readonly values: Partial<Values>;
  /** Of what was read before it was edited. */
  readonly version?: string | undefined;
  /** Milliseconds. */
  readonly at: number;
}

const PREFIX = 'ordinate.draft ';
const KEPT = 7 * 24 * 3_600_000;

/** The draft of a form of whoever is signed in; undefined if there is none. */
export function readDraft<Values>(form: string): Draft<Values> | undefined {
  return ifStored(() => {
    const draft = JSON.parse(localStorage.getItem(nameOf(form)) ?? 'null') as Draft<Values> | null;
    return draft !== null && draft.at > Date.now() - KEPT ? draft : undefined;
  });
}

export function hasDraft(form: string): boolean {
  return readDraft(form) !== undefined;
}

/** Whether a form is open: at first, if it has a draft. Who is signed in may be known a moment later. */
export function useOpen(form: string): [isOpen: boolean, setOpen: (isOpen: boolean) => void] {
  const [chosen, choose] = useState<boolean | undefined>();
  return [chosen ?? hasDraft(form), choose];
}

export function writeDraft<Values>(form: string, draft: Draft<Values>): void {
  ifStored(() => localStorage.setItem(nameOf(form), JSON.stringify(draft)));
}

export function dropDraft(form: string): void {
  ifStored(() => localStorage.removeItem(nameOf(form)));
}

/** Forgets all drafts: who signs out leaves nothing behind. */
export function dropDrafts(): void {
  dropOthers('');
}

function ownerOf({ workspace, email }: Session): string {
  return `${PREFIX}${JSON.stringify([workspace.id, email?.toLowerCase()])} `;
}

function nameOf(form: string): string {
  return (session.value ? ownerOf(session.value) : PREFIX) + form;
}

function dropOthers(owner: string): void {
  ifStored(() => {
    for (const name of Object.keys(localStorage)) {
      if (name.startsWith(PREFIX) && !(owner !== '' && name.startsWith(owner))) localStorage.removeItem(name);
    }
  });
}

// Whoever signs in on the same browser finds nothing of the one before.
effect(() => {
  if (session.value) dropOthers(ownerOf(session.value));
});
