// Written by `npm run client`; do not edit.

/** Of the document that the files of this folder were made from: a test tells when they are outdated. */
export const DOCUMENT = 'ed7b22e677b6a5438f28e002bf5800eaeef127b652c575446a392b6337056c87';

/** The path of each operation. */
export const PATHS = {
  listProjects: '/api/v1/projects',
  getProject: '/api/v1/projects/{id}',
  getPortfolio: '/api/v1/portfolio',
  listKeywords: '/api/v1/projects/{id}/keywords',
  listGroups: '/api/v1/projects/{id}/groups',
  listPageGroups: '/api/v1/projects/{id}/page-groups',
  getSite: '/api/v1/projects/{id}/site',
  listSurfaces: '/api/v1/projects/{id}/surfaces',
  getAiReport: '/api/v1/projects/{id}/ai',
  getHours: '/api/v1/projects/{id}/hours',
  listSitemaps: '/api/v1/projects/{id}/sitemaps',
  listIndexState: '/api/v1/projects/{id}/index',
  getIndexHistory: '/api/v1/projects/{id}/index/history',
  getCrawl: '/api/v1/projects/{id}/crawl',
  getBreakdowns: '/api/v1/projects/{id}/breakdowns',
  explainChange: '/api/v1/projects/{id}/explain',
  listPages: '/api/v1/projects/{id}/pages',
  listQueries: '/api/v1/projects/{id}/queries',
  listFindings: '/api/v1/projects/{id}/findings',
  getQuery: '/api/v1/projects/{id}/query',
  postQuery: '/api/v1/projects/{id}/query',
  listAlerts: '/api/v1/projects/{id}/alerts',
  listNotes: '/api/v1/projects/{id}/notes',
  getEffects: '/api/v1/projects/{id}/effects',
  getSnapshot: '/api/v1/projects/{id}/snapshot',
  postSql: '/api/v1/projects/{id}/sql',
} as const;

/** The operations that are sent by POST, with a body. */
export const POSTS = ['postQuery', 'postSql'] as const;

/** The name of the list of rows in answers with pages. */
export const ROWS = {
  getPortfolio: 'projects',
  listKeywords: 'keywords',
  getAiReport: 'rows',
  listIndexState: 'pages',
  listPages: 'pages',
  listQueries: 'queries',
  listFindings: 'findings',
  postQuery: 'rows',
} as const;
