import { useEffect, useRef } from 'preact/hooks';
import { SCREENS } from '../lib/screens.ts';
import { isHelpOpen } from '../lib/shortcuts.ts';

const SHORTCUTS: readonly (readonly [keys: string, what: string])[] = [
  ['/', 'Search in the list'],
  ['Esc', 'Leave a field'],
  ['← →', 'Read the days of a focused chart'],
  ['g h', 'Projects'],
  ...SCREENS.map(([, name, , letter]) => [`g ${letter}`, name] as const),
  ['?', 'This list'],
];

/** The list of shortcuts, over the page. */
export function ShortcutHelp() {
  const dialog = useRef<HTMLDialogElement>(null);
  const isOpen = isHelpOpen.value;
  useEffect(() => {
    if (isOpen) dialog.current?.showModal();
  }, [isOpen]);
  if (!isOpen) return null;
  const close = (): void => {
    isHelpOpen.value = false;
  };
  return (
    <dialog ref={dialog} class="card shortcuts" aria-labelledby="shortcuts" onClose={close}>
      <h2 id="shortcuts">Keyboard shortcuts</h2>
      <dl>
        {SHORTCUTS.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <button type="button" class="button" onClick={() => dialog.current?.close()}>
        Close
      </button>
    </dialog>
  );
}
