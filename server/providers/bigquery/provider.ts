import { type Connection, ConnectionRefused } from '../../catalog/connections.ts';
import { readCredentials } from '../google/credentials.ts';
import { GOOGLE_ERRORS } from '../google/failures.ts';
import { GOOGLE_NOTE, GOOGLE_OPTIONS } from '../google/options.ts';
import { GOOGLE_PACING } from '../google/pacing.ts';
import type { Provider } from '../provider.ts';
import { Warehouse } from './warehouse.ts';

/** Contract, 4.8. */
const MAX_ROWS = 100_000;

const DATASET = /^[a-z][a-z0-9-]{4,28}[a-z0-9]\.\w{1,1024}$/;

/** The search engine's bulk export in BigQuery. */
export const BIGQUERY: Provider = {
  kind: 'bigquery',
  help: 'the bulk export',
  options: [
    ...GOOGLE_OPTIONS,
    { name: 'dataset', flags: '--dataset <project.dataset>', help: 'the dataset of the bulk export (bigquery)' },
    { name: 'location', flags: '--location <location>', help: 'where the dataset is, such as EU (bigquery)' },
  ],
  note: GOOGLE_NOTE,
  advice: {
    'access-lost':
      'Give the identity the roles BigQuery Data Viewer on the dataset and BigQuery Job User on its project, and check the name of the dataset.',
    'load-quota': "The project's BigQuery quota is used up: wait, or raise it.",
    'rate-limit': 'Nothing is wrong with the connection: wait a minute and test again.',
    'not-covered': 'Use a range that the export has; the reporting API serves the others.',
    misconfigured:
      'Correct what the reason says: the credentials file, the dataset, the API, or the limit of bytes billed.',
    broken: 'Check that this machine can reach the address of BigQuery, and test again.',
  },
  errors: GOOGLE_ERRORS,
  pacing: GOOGLE_PACING,
  lists: {
    source: 'bigquery',
    help: 'a data warehouse',
    types: ['web'],
    maxRows: { pages: MAX_ROWS, queries: MAX_ROWS },
    isWarehouse: true,
  },
  check: checkDataset,
  checkCredentials: readCredentials,
  connect: (connection, context) => new Warehouse(connection, context),
};

function checkDataset({ dataset }: Connection): void {
  if (dataset !== null && DATASET.test(dataset)) return;
  throw new ConnectionRefused(
    `A bigquery connection needs --dataset PROJECT.DATASET, such as my-project.searchconsole${dataset === null ? '' : `, not '${dataset}'`}.`,
  );
}
