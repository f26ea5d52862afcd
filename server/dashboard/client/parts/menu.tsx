import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

interface MenuProps {
  /** What the button shows. */
  readonly button: ComponentChildren;
  readonly class?: string;
  readonly title?: string;
  /** What opens below it, and how to close it. */
  readonly children: (close: () => void) => ComponentChildren;
}

/** A button with something that opens below it, until Escape or a click elsewhere. */
export function Menu({ button, class: style = 'button', title, children }: MenuProps) {
  const [isOpen, setOpen] = useState(false);
  const menu = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!isOpen) return;
    const close = (event: Event): void => {
      if (event instanceof KeyboardEvent ? event.key === 'Escape' : !menu.current?.contains(event.target as Node)) {
        setOpen(false);
      }
    };
    addEventListener('keydown', close);
    addEventListener('pointerdown', close);
    return () => {
      removeEventListener('keydown', close);
      removeEventListener('pointerdown', close);
    };
  }, [isOpen]);
  return (
    <div class="menu" ref={menu}>
      <button
        type="button"
        class={style}
        title={title}
        aria-expanded={isOpen}
        aria-haspopup="true"
        onClick={() => setOpen(!isOpen)}
      >
        {button}
      </button>
      {isOpen && <div class="menu-items">{children(() => setOpen(false))}</div>}
    </div>
  );
}
