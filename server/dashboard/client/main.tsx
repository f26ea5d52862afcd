import 'uplot/dist/uPlot.min.css';
import './styles/base.css';
import './styles/shell.css';
import './styles/parts.css';
import './styles/menus.css';
import './styles/period.css';
import './styles/shortcuts.css';
import './styles/states.css';
import './styles/tables.css';
import './styles/charts.css';
import './styles/sign-in.css';
import './styles/projects.css';
import './styles/overview.css';
import './styles/keywords.css';
import './styles/breakdowns.css';
import './styles/explain.css';
import './styles/findings.css';
import './styles/explore.css';
import './styles/effect.css';
import './styles/alerts.css';
import './styles/notes.css';
import './styles/data.css';
import './styles/forms.css';
import './styles/hours.css';
import './styles/wide.css';
import './styles/print.css';
import { render } from 'preact';
import { LocationProvider } from 'preact-iso/router';
import { App, Shared } from './app.tsx';
import { share } from './lib/api.ts';
import { followTheme } from './lib/theme.ts';

/** Links that the page follows itself: not those to the API, whose answers are downloads. */
const SCOPE = share === undefined ? /^\/app(?:\/(?!api\/|static\/)|\?|$)/ : new RegExp(`^${share}(\\?|$)`);

followTheme();
render(
  <LocationProvider scope={SCOPE}>{share === undefined ? <App /> : <Shared />}</LocationProvider>,
  document.getElementById('app')!,
);
