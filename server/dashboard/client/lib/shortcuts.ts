import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { SCREENS, SETTINGS_SCREEN } from './screens.ts';
import { useScreenLink } from './view.ts';

/** How long after `g` a letter goes somewhere, in milliseconds. */
const PAUSE = 1500;

/** Whether the list of shortcuts is shown. */
export const isHelpOpen = signal(false);

/** `?` shows the list of shortcuts, `/` goes to the filter of a screen, `g` and a letter to another screen, Escape out of a field. */
export function useShortcuts(project: string | undefined): void {
  const { route } = useLocation();
  const link = useScreenLink();
  useEffect(() => {
    let pressedG = 0;
    const onKey = (event: KeyboardEvent): void => {
      const target = event.target as HTMLElement;
      const isTyping = /^(input|textarea|select)$/i.test(target.tagName);
      if (event.key === 'Escape' && isTyping) target.blur();
      if (isTyping || event.metaKey || event.ctrlKey || event.altKey) return;
      if (event.key === '?') {
        isHelpOpen.value = true;
        return;
      }
      if (event.key === '/') {
        const field = document.querySelector<HTMLElement>('[data-filter]');
        if (field === null) return;
        event.preventDefault();
        field.focus();
        return;
      }
      if (event.timeStamp - pressedG < PAUSE) {
        const screen = [...SCREENS, SETTINGS_SCREEN].find(([, , , letter]) => letter === event.key);
        if (event.key === 'h') route('/app');
        else if (screen !== undefined && project !== undefined) route(link(`/app/p/${project}${screen[0]}`));
      }
      pressedG = event.key === 'g' ? event.timeStamp : Number.NEGATIVE_INFINITY;
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  });
}
