import { apiPath } from './api.ts';
import type { EffectsAnswer } from './types.ts';

/** What is judged: a note, or a day with a page, keyword or group, and other lengths of windows than usual. */
export type Judged = Readonly<Record<string, string | null>>;

export function effectPath(project: string, judged: Judged): string {
  return apiPath(`/projects/${project}/effects`, judged);
}

/** The address of the screen about an effect. */
export function effectScreen(project: string, judged: Judged): string {
  return apiPath(`/app/p/${project}/effect`, judged);
}

/** What a reason means for the reader, and what helps. */
export const ADVICE: Readonly<Record<string, string>> = {
  no_controls:
    'A change of everything leaves nothing unchanged to compare with. Write a note for the pages, keywords or group that changed.',
  needs_stored_days: 'The project stores no days of these pages or keywords; connect it, or load them.',
  missing_days: 'Some days of these windows are not stored. Other windows, or a sync of these days, may help.',
  provider_event:
    'The search engine counts clicks of these windows differently, so that both sides measure different things.',
  other_note:
    'Another change of the same pages or keywords lies in these windows. The numbers are of both together: neither of them can be told apart.',
  few_clicks: 'So few clicks vary too much by chance. A group of pages or keywords together may have enough.',
  few_placebos: 'There are too few comparisons without a change to say how often chance alone looks like this.',
};

/** The values that fit to the data without a change, by day: where the clicks of the judged days together would be expected. */
export function expectedRange({ effect, windows, daily }: EffectsAnswer): {
  readonly low: readonly (number | null)[];
  readonly high: readonly (number | null)[];
} {
  const { ratio = 0, low = null, high = null } = effect ?? {};
  const scaled = (end: number | null) =>
    daily.map(({ date, expected }) =>
      expected === null || end === null || date < windows.after.from ? null : (expected * (1 + ratio)) / (1 + end),
    );
  return { low: scaled(high), high: scaled(low) };
}
