// Written by `npm run client`; do not edit.

/** Of the document that the files of this folder were made from: a test tells when they are outdated. */
export const DOCUMENT = '67953f174acc5cf530bb6767d0e269c4a1863b302bbc8d346f463fa780b14a6c';

/** The path of each operation. */
export const PATHS = {
  listProjects: '/api/v1/projects',
  getProject: '/api/v1/projects/{id}',
  listKeywords: '/api/v1/projects/{id}/keywords',
  listGroups: '/api/v1/projects/{id}/groups',
  listPageGroups: '/api/v1/projects/{id}/page-groups',
  getSite: '/api/v1/projects/{id}/site',
  getBreakdowns: '/api/v1/projects/{id}/breakdowns',
  listPages: '/api/v1/projects/{id}/pages',
  listQueries: '/api/v1/projects/{id}/queries',
  listAlerts: '/api/v1/projects/{id}/alerts',
  listNotes: '/api/v1/projects/{id}/notes',
} as const;

/** Where the rows are in answers that come in pages. */
export const ROWS = {
  listKeywords: 'keywords',
  listPages: 'pages',
  listQueries: 'queries',
} as const;
