import { Type } from 'typebox';
import { isLongPortfolio, portfolioReport } from '../../presets/portfolio.ts';
import { portfolioChunks, portfolioJson, portfolioTable } from '../../presets/portfolio-formats.ts';
import { answerWith } from '../answer.ts';
import { errorDetails, responses } from '../responses.ts';
import { dayMetrics, nullable, object, paging, projectProperties, quality, range, totalMetrics } from '../schemas.ts';
import type { Route } from './route.ts';

const project = Type.Object(
  {
    ...projectProperties,
    range: nullable(range, 'The days of this project: by default they end with its own last synced day.'),
    quality,
    totals: nullable(totalMetrics, 'Null with `error`.'),
    daily: Type.Optional(
      Type.Array(dayMetrics, { description: 'Only when daily is requested; with interval, weeks or months.' }),
    ),
    error: Type.Optional(errorDetails),
  },
  {
    title: 'PortfolioProject',
    description:
      'A project, and what `/projects/{id}/site` answers about it: `error` where that is an error, such as a range that begins after the last synced day.',
    additionalProperties: false,
  },
);

const answer = object('PortfolioAnswer', { paging, projects: Type.Array(project) });

export const portfolio: Route = {
  path: '/portfolio',
  report: portfolioReport,
  tag: 'Projects',
  summary: 'All projects with totals of the whole property',
  description:
    'For each project of the workspace its sync state and what the site endpoint answers. Oldest first. Each project has a range of its own.',
  response: responses(answer, 'The projects.', ['invalid_request'], { hasEtag: true }),
  examples: {
    200: '/portfolio?period=7d&compare=previous&sort=-clicks',
    400: '/portfolio?sort=-traffic',
  },
  handle: answerWith(portfolioReport, {
    json: portfolioJson,
    jsonChunks: (query) => (isLongPortfolio(query) ? portfolioChunks : undefined),
    rows: portfolioTable,
    isLong: isLongPortfolio,
  }),
};
