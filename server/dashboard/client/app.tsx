import { useLayoutEffect } from 'preact/hooks';
import { Route, Router, useLocation } from 'preact-iso/router';
import { session, useResource } from './lib/api.ts';
import type { Session } from './lib/types.ts';
import { Boundary } from './parts/boundary.tsx';
import { lazyScreen } from './parts/lazy-screen.tsx';
import { Shell } from './parts/shell.tsx';
import { ErrorBox, Missing } from './parts/states.tsx';
import { Overview } from './screens/overview.tsx';
import { Projects } from './screens/projects.tsx';

/** The page. Without a session, every address shows the sign-in screen; after sign-in, the screen of that address. */
export function App() {
  const { path } = useLocation();
  const isSignInPage = path === '/app/sign-in';
  const isUnknown = session.value === undefined && !isSignInPage;
  const { data, error, reload } = useResource<Session>(isUnknown ? '/session' : null);
  useLayoutEffect(() => {
    if (isUnknown && data !== undefined) session.value = data;
  }, [data]);
  if (session.value === null || isSignInPage) return <SignIn />;
  // A server that does not answer has not signed anybody out.
  if (error) {
    return (
      <main class="sign-in">
        <ErrorBox error={error} retry={reload} />
      </main>
    );
  }
  // Who is signed in decides which buttons there are. Until that is known, nothing shows that would move.
  return (
    <div class={session.value === undefined ? 'unseen' : undefined}>
      <Shell>
        <Boundary path={path}>
          <Router>
            <Route path="/app" component={Projects} />
            <Route path="/app/connect" component={Connect} />
            <Route path="/app/channels" component={Channels} />
            <Route path="/app/members" component={Members} />
            <Route path="/app/keys" component={Keys} />
            <Route path="/app/feeds" component={Feeds} />
            <Route path="/app/audit" component={Audit} />
            <Route path="/app/p/:project" component={Overview} />
            <Route path="/app/p/:project/queries" component={Queries} />
            <Route path="/app/p/:project/pages" component={Pages} />
            <Route path="/app/p/:project/queries/one" component={QueryScreen} />
            <Route path="/app/p/:project/pages/one" component={PageScreen} />
            <Route path="/app/p/:project/keywords" component={Keywords} />
            <Route path="/app/p/:project/keywords/:keyword" component={KeywordScreen} />
            <Route path="/app/p/:project/breakdowns" component={Breakdowns} />
            <Route path="/app/p/:project/explain" component={Explain} />
            <Route path="/app/p/:project/findings" component={Findings} />
            <Route path="/app/p/:project/explore" component={Explore} />
            <Route path="/app/p/:project/effect" component={Effect} />
            <Route path="/app/p/:project/alerts" component={Alerts} />
            <Route path="/app/p/:project/notes" component={Notes} />
            <Route path="/app/p/:project/report" component={Report} />
            <Route path="/app/p/:project/data" component={Data} />
            <Route path="/app/p/:project/settings" component={Settings} />
            <Route default component={Missing} />
          </Router>
        </Boundary>
      </Shell>
    </div>
  );
}

// Loaded when they are first visited.
const SignIn = lazyScreen(async () => (await import('./screens/sign-in.tsx')).SignIn);
export const Shared = lazyScreen(async () => (await import('./screens/shared.tsx')).Shared);
const Queries = lazyScreen(async () => (await import('./screens/lists.tsx')).Queries);
const Pages = lazyScreen(async () => (await import('./screens/lists.tsx')).Pages);
const QueryScreen = lazyScreen(async () => (await import('./screens/joint.tsx')).QueryScreen);
const PageScreen = lazyScreen(async () => (await import('./screens/joint.tsx')).PageScreen);
const Keywords = lazyScreen(async () => (await import('./screens/keywords.tsx')).Keywords);
const KeywordScreen = lazyScreen(async () => (await import('./screens/keyword.tsx')).KeywordScreen);
const Breakdowns = lazyScreen(async () => (await import('./screens/breakdowns.tsx')).Breakdowns);
const Explain = lazyScreen(async () => (await import('./screens/explain.tsx')).Explain);
const Findings = lazyScreen(async () => (await import('./screens/findings.tsx')).Findings);
const Explore = lazyScreen(async () => (await import('./screens/explore.tsx')).Explore);
const Effect = lazyScreen(async () => (await import('./screens/effect.tsx')).Effect);
const Alerts = lazyScreen(async () => (await import('./screens/alerts.tsx')).Alerts);
const Notes = lazyScreen(async () => (await import('./screens/notes.tsx')).Notes);
const Report = lazyScreen(async () => (await import('./screens/report.tsx')).Report);
const Data = lazyScreen(async () => (await import('./screens/data.tsx')).Data);
const Connect = lazyScreen(async () => (await import('./screens/connect.tsx')).Connect);
const Channels = lazyScreen(async () => (await import('./screens/channels.tsx')).Channels);
const Members = lazyScreen(async () => (await import('./screens/members.tsx')).Members);
const Feeds = lazyScreen(async () => (await import('./screens/feeds.tsx')).Feeds);
const Audit = lazyScreen(async () => (await import('./screens/audit.tsx')).Audit);
const Settings = lazyScreen(async () => (await import('./screens/settings.tsx')).Settings);
const Keys = lazyScreen(async () => (await import('./screens/keys.tsx')).Keys);
