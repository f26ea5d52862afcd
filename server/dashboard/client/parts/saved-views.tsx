import { useLocation } from 'preact-iso/router';
import { Icon } from './icons.tsx';
import { lazyScreen } from './lazy-screen.tsx';
import { Menu } from './menu.tsx';
import { Skeleton } from './states.tsx';

const SavedViewsMenu = lazyScreen(
  async () => (await import('./saved-views-menu.tsx')).SavedViewsMenu,
  <Skeleton lines={2} height={28} />,
);

/** The saved views of the project of this address, and how to save what is shown. */
export function SavedViews() {
  const { url } = useLocation();
  return (
    <Menu
      // Closed when one was chosen.
      key={url}
      button={
        <>
          <Icon name="views" /> Views <Icon name="chevron" size={14} />
        </>
      }
    >
      {() => <SavedViewsMenu />}
    </Menu>
  );
}
