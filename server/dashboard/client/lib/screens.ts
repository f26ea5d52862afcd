import type { IconName } from '../parts/icons.tsx';

/** The screens of a project: their place below it, name, icon, and the letter that goes there after `g`. */
export const SCREENS: readonly (readonly [path: string, name: string, icon: IconName, letter: string])[] = [
  ['', 'Overview', 'overview', 'o'],
  ['/explain', 'Explain', 'explain', 'e'],
  ['/findings', 'Findings', 'findings', 'f'],
  ['/queries', 'Queries', 'queries', 'q'],
  ['/pages', 'Pages', 'pages', 'p'],
  ['/keywords', 'Keywords', 'keywords', 'k'],
  ['/breakdowns', 'Breakdowns', 'breakdowns', 'b'],
  ['/explore', 'Explore', 'explore', 'x'],
  ['/alerts', 'Alerts', 'alerts', 'a'],
  ['/notes', 'Notes', 'notes', 'n'],
  ['/data', 'Data', 'data', 'd'],
];

/** The screen for its owners and admins. */
export const SETTINGS_SCREEN = ['/settings', 'Settings', 'settings', 's'] as const;

/** The screens of a workspace, for its owners and admins. */
export const WORKSPACE_SCREENS: readonly (readonly [address: string, name: string, icon: IconName])[] = [
  ['/app/connect', 'Connect', 'connect'],
  ['/app/channels', 'Channels', 'channels'],
  ['/app/members', 'Members', 'members'],
  ['/app/keys', 'Keys', 'keys'],
  ['/app/feeds', 'Feeds', 'table'],
  ['/app/audit', 'Audit trail', 'audit'],
];

/** The id of the project that an address is about. */
export function projectOf(path: string): string | undefined {
  return /^\/app\/p\/([^/]+)/.exec(path)?.[1];
}
