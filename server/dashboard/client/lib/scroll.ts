import { useEffect, useRef } from 'preact/hooks';

/** How long a screen may take to become as long as it was, in milliseconds. */
const MAX_WAIT = 3000;

/** How far screens were scrolled, by their addresses. */
const offsets = new Map<string, number>();

/** A new screen and another page of a list begin at the top; going back leads to where one was. */
export function useScroll(path: string, offset: string): void {
  const isBack = useRef(false);
  const isFirst = useRef(true);
  useEffect(() => {
    history.scrollRestoration = 'manual';
    const onScroll = (): void => {
      offsets.set(location.href, scrollY);
    };
    const onBack = (): void => {
      isBack.current = true;
      restore(offsets.get(location.href) ?? 0);
    };
    addEventListener('scroll', onScroll, { passive: true });
    addEventListener('popstate', onBack);
    return () => {
      removeEventListener('scroll', onScroll);
      removeEventListener('popstate', onBack);
    };
  }, []);
  useEffect(() => {
    if (!isFirst.current && !isBack.current) scrollTo(0, 0);
    isFirst.current = false;
    isBack.current = false;
  }, [path, offset]);
}

/** Scrolls as soon as the page is long enough. */
function restore(top: number): void {
  const until = performance.now() + MAX_WAIT;
  const step = (): void => {
    scrollTo(0, top);
    if (Math.abs(scrollY - top) > 1 && performance.now() < until) requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}
