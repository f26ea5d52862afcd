import { Component, type ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Empty } from './states.tsx';

interface BoundaryProps {
  /** Another one shows the children again. */
  readonly path: string;
  readonly children: ComponentChildren;
}

/** Shows what failed in the place of a screen that cannot be drawn or loaded. */
export class Boundary extends Component<BoundaryProps, { readonly failedAt: string | null }> {
  override state = { failedAt: null as string | null };

  override componentDidCatch(error: unknown): void {
    // For whoever looks into the console; the page itself says what to do.
    console.info(error);
    this.setState({ failedAt: this.props.path });
  }

  override render({ path, children }: BoundaryProps, { failedAt }: { readonly failedAt: string | null }) {
    return failedAt === path ? <Failed /> : children;
  }
}

/** A screen that does not load is offline or of a version that the server no longer has. */
function Failed() {
  const [isNew, setNew] = useState(false);
  useEffect(() => {
    void isNewVersion().then(setNew);
  }, []);
  return (
    <Empty title={isNew ? 'A new version is there' : 'This screen could not be shown'}>
      <p>
        {isNew
          ? 'The server was upgraded since this page was opened.'
          : 'Are you online, and is the server running? What you see is kept in the address.'}
      </p>
      <button type="button" class="button button-main" onClick={() => location.reload()}>
        Reload
      </button>
    </Empty>
  );
}

/** Whether the server's page names other scripts than this one. */
async function isNewVersion(): Promise<boolean> {
  const mine = document.querySelector('script[src]')?.getAttribute('src');
  try {
    const page = await (await fetch('/app', { cache: 'no-store' })).text();
    return mine !== null && mine !== undefined && !page.includes(mine);
  } catch {
    return false;
  }
}
