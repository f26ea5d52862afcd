import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import icon from '../icon.svg';
import { ApiError, forgetAnswers, isManager, request, session, useResource } from '../lib/api.ts';
import { dropDrafts } from '../lib/drafts.ts';
import { shownHost } from '../lib/hosts.ts';
import { projectOf, SCREENS, SETTINGS_SCREEN, WORKSPACE_SCREENS } from '../lib/screens.ts';
import { useScroll } from '../lib/scroll.ts';
import { isHelpOpen, useShortcuts } from '../lib/shortcuts.ts';
import { nextTheme, themeChoice } from '../lib/theme.ts';
import type { ProjectSummary, ProjectsAnswer } from '../lib/types.ts';
import { summaryPath } from '../lib/use-project.ts';
import { useScreenLink } from '../lib/view.ts';
import { Icon, type IconName } from './icons.tsx';
import { lazyScreen } from './lazy-screen.tsx';

const ShortcutHelp = lazyScreen(async () => (await import('./shortcut-help.tsx')).ShortcutHelp, null);

/** Everything around a screen: the way to the others, and who is signed in. */
export function Shell({ children }: { children: ComponentChildren }) {
  const { path, query } = useLocation();
  const project = projectOf(path);
  useShortcuts(project);
  useScroll(path, query['offset'] ?? '');
  return (
    <div class="shell">
      <a class="skip" href="#screen">
        Skip to the content
      </a>
      <Sidebar project={project} path={path} />
      <main id="screen" tabIndex={-1}>
        {children}
      </main>
      {isHelpOpen.value && <ShortcutHelp />}
    </div>
  );
}

function Sidebar({ project, path }: { project: string | undefined; path: string }) {
  const link = useScreenLink();
  const [isOpen, setOpen] = useState(false);
  // On a phone the list of screens closes when one was chosen.
  useEffect(() => setOpen(false), [path]);
  const screens = isManager.value ? [...SCREENS, SETTINGS_SCREEN] : SCREENS;
  return (
    <header class="sidebar">
      <a class="brand" href="/app" aria-label="Ordinate, all projects">
        <img src={icon} alt="" width="26" height="26" />
        <span>Ordinate</span>
      </a>
      {project !== undefined && <ProjectSwitch project={project} path={path} />}
      <button
        type="button"
        class="button menu-button"
        aria-expanded={isOpen}
        aria-controls="screens"
        onClick={() => setOpen(!isOpen)}
      >
        Menu <Icon name="chevron" />
      </button>
      <nav aria-label="Screens" id="screens" class={isOpen ? 'is-open' : ''}>
        <NavLink href="/app" name="Projects" icon="projects" isCurrent={path === '/app'} />
        {project !== undefined &&
          screens.map(([below, name, iconName]) => (
            <NavLink
              key={below}
              href={link(`/app/p/${project}${below}`)}
              name={name}
              icon={iconName}
              isCurrent={isCurrent(path, project, below)}
            />
          ))}
        {isManager.value &&
          WORKSPACE_SCREENS.map(([address, name, iconName]) => (
            <NavLink key={address} href={address} name={name} icon={iconName} isCurrent={path === address} />
          ))}
      </nav>
      <SignedIn />
    </header>
  );
}

function isCurrent(path: string, project: string, below: string): boolean {
  const address = `/app/p/${project}${below}`;
  return below === '' ? path === address : path === address || path.startsWith(`${address}/`);
}

function NavLink({
  href,
  name,
  icon: iconName,
  isCurrent,
}: {
  href: string;
  name: string;
  icon: IconName;
  isCurrent: boolean;
}) {
  return (
    <a class="nav-link" href={href} aria-current={isCurrent ? 'page' : undefined}>
      <Icon name={iconName} />
      <span>{name}</span>
    </a>
  );
}

/** Goes to the same screen of another project. */
function ProjectSwitch({ project, path }: { project: string; path: string }) {
  const known = useResource<ProjectSummary>(summaryPath(project)).data?.project;
  const [isIdle, setIdle] = useState(false);
  useEffect(() => {
    // The list of all may be long; what the screen shows goes first.
    const timer = setTimeout(() => setIdle(true), 500);
    return () => clearTimeout(timer);
  }, []);
  const { data } = useResource<ProjectsAnswer>(isIdle ? '/projects' : null);
  const link = useScreenLink();
  const { route } = useLocation();
  const projects = data?.projects ?? [];
  const screen = path.slice(`/app/p/${project}`.length).replace(/^(\/[a-z]+)\/.*/, '$1');
  return (
    <div class="project-switch">
      <select
        aria-label="Project"
        value={project}
        onChange={(event) => route(link(`/app/p/${event.currentTarget.value}${screen}`))}
      >
        {projects.some(({ id }) => id === project) ? null : (
          <option value={project}>{known ? shownHost(known.domain) : '\u00a0'}</option>
        )}
        {projects.map(({ id, domain }) => (
          <option key={id} value={id}>
            {shownHost(domain)}
          </option>
        ))}
      </select>
      <Icon name="chevron" />
    </div>
  );
}

function SignedIn() {
  const found = session.value;
  const [problem, setProblem] = useState('');
  const signOut = async (): Promise<void> => {
    try {
      await request('/session', { method: 'DELETE' });
    } catch (error) {
      // Without the server the cookie stays: a page that looks signed out would not be.
      if (!(error instanceof ApiError && error.status === 401)) {
        setProblem('Not signed out: the server cannot be reached.');
        return;
      }
    }
    forgetAnswers();
    dropDrafts();
    session.value = null;
  };
  return (
    <div class="signed-in">
      <div class="who" title={found?.email ?? 'Signed in with a key: this session reads only'}>
        <strong>{found?.workspace.name ?? '\u00a0'}</strong>
        <span>{found?.email ?? (found ? 'read only' : '')}</span>
        {problem && (
          <span class="problem" role="alert">
            {problem}
          </span>
        )}
      </div>
      <a class="icon-button" href="/docs" target="_blank" rel="noopener" title="API documentation">
        <span aria-hidden="true">{'{ }'}</span>
        <span class="sr-only">API documentation</span>
      </a>
      <button
        type="button"
        class="icon-button"
        title={`Colours: ${themeChoice.value}`}
        aria-label={`Colours: ${themeChoice.value}`}
        onClick={nextTheme}
      >
        <Icon name="theme" />
      </button>
      <button type="button" class="icon-button" title="Sign out" onClick={() => void signOut()}>
        <Icon name="out" />
        <span class="sr-only">Sign out</span>
      </button>
    </div>
  );
}
