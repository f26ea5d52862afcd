import { pagesOfQueryReport, queriesOfPageReport } from '../../presets/joint-lists.ts';
import { answerWith } from '../answer.ts';
import { listFormats } from './lists.ts';
import type { Endpoint } from './route.ts';

/** The queries of one page and the pages of one query, which only the dashboard has. */
export const JOINT_LISTS: readonly Endpoint[] = [
  {
    path: '/projects/:id/queries-of-page',
    report: queriesOfPageReport,
    handle: answerWith(queriesOfPageReport, listFormats),
  },
  {
    path: '/projects/:id/pages-of-query',
    report: pagesOfQueryReport,
    handle: answerWith(pagesOfQueryReport, listFormats),
  },
];
