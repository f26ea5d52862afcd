import { effect, signal } from '@preact/signals';
import { ifStored } from './storage.ts';

const CHOICES = ['system', 'light', 'dark'] as const;
type Choice = (typeof CHOICES)[number];
const STORED = 'ordinate-theme';

const system = matchMedia('(prefers-color-scheme: dark)');

/** What somebody chose in this browser. */
export const themeChoice = signal<Choice>(readChoice());
/** The colours of the page now. */
export const theme = signal<'light' | 'dark'>('light');

/** Sets the colours, and follows the choice and the system. */
export function followTheme(): void {
  const isDark = signal(system.matches);
  system.addEventListener('change', ({ matches }) => {
    isDark.value = matches;
  });
  effect(() => {
    const choice = themeChoice.value;
    const next = choice === 'system' ? (isDark.value ? 'dark' : 'light') : choice;
    document.documentElement.dataset['theme'] = next;
    theme.value = next;
  });
}

/** Goes to the next choice. */
export function nextTheme(): void {
  const next = CHOICES[(CHOICES.indexOf(themeChoice.value) + 1) % CHOICES.length]!;
  themeChoice.value = next;
  // Without storage the choice lasts as long as the page.
  ifStored(() => localStorage.setItem(STORED, next));
}

function readChoice(): Choice {
  const stored = ifStored(() => localStorage.getItem(STORED));
  return CHOICES.find((choice) => choice === stored) ?? 'system';
}
