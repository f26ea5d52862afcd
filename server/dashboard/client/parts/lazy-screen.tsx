import { type ComponentType, h, type VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Skeleton } from './states.tsx';

/** A screen that is loaded when it is first visited. One that fails to load throws, for the boundary around screens. */
export function lazyScreen<Props extends object = object>(
  load: () => Promise<ComponentType<Props>>,
  waiting: VNode | null = <Skeleton lines={2} height={200} />,
): ComponentType<Props> {
  let screen: ComponentType<Props> | undefined;
  return function LazyScreen(props) {
    const [failure, setFailure] = useState<Error | undefined>();
    const [isLoaded, setLoaded] = useState(screen !== undefined);
    useEffect(() => {
      if (isLoaded) return;
      let hasLeft = false;
      load().then(
        (loaded) => {
          screen = loaded;
          if (!hasLeft) setLoaded(true);
        },
        (error: unknown) => {
          if (!hasLeft) setFailure(error instanceof Error ? error : new Error(String(error)));
        },
      );
      return () => {
        hasLeft = true;
      };
    }, []);
    if (failure !== undefined) throw failure;
    return screen === undefined ? waiting : h(screen, props);
  };
}
